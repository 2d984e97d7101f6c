// The list of results.

import { badge, heading, place, titleOf } from "./cited.js";
import { element, excerpt, foreign } from "./text.js";

/** One result as a list item; `address` gives the link that opens a chunk. */
export function resultItem(result, address) {
  const { citation, verification } = result;
  const link = foreign("a", "title", titleOf(result));
  link.href = address(citation.chunk_id);
  link.dataset.chunk = citation.chunk_id;
  const about = element("p", "about", badge(verification), " ", place(citation, verification));
  const headings = heading(result);
  const item = element("li", "", element("h2", "", link), about);
  if (headings) item.append(element("p", "", headings));
  const passage = foreign("p", "passage", ...excerpt(result.content, result.highlights ?? []));
  item.append(passage, ...others("The same text stands", result.copies, address));
  item.append(...others("Left out as nearly the same:", result.similar, address));
  return item;
}

function others(what, citations, address) {
  if (!citations.length) return [];
  const items = citations.map((citation) => {
    const link = element("a", "", place(citation));
    link.href = address(citation.chunk_id);
    link.dataset.chunk = citation.chunk_id;
    return element("li", "", link);
  });
  const count = citations.length === 1 ? "1 place" : `${citations.length} places`;
  const told = what.endsWith(":")
    ? `${what} ${citations.length === 1 ? "1 passage" : `${citations.length} passages`}`
    : `${what} at ${count} more`;
  return [element("details", "", element("summary", "", told), element("ul", "", ...items))];
}
