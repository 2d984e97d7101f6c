// How a citation is told: its place, its heading, its verdict.

import { element, foreign, visible } from "./text.js";

const VERDICTS = {
  verified: ["✓", "The cited text stands in its source."],
  moved: ["↷", "The cited text stands elsewhere in its source now."],
  drifted: ["≠", "The source has changed. The text below is as it was indexed."],
  unresolvable: ["✕", "The source cannot be read now. The text below is as it was indexed."],
};

/** The name that a document is called by. */
export function titleOf({ title, citation }) {
  return visible(title || citation.heading_path[0] || citation.source.split("/").pop());
}

/** `source:first-last` or `source p.first-last`, by where the passage stands now. */
export function place(citation, verdict) {
  const pages = verdict?.pages ?? citation.pages;
  const lines = verdict?.lines ?? citation.lines;
  const where = pages ? ` p.${range(pages)}` : lines ? `:${range(lines)}` : "";
  const source = foreign("bdi", "", visible(citation.source));
  return element("span", "place", source, where);
}

/** The headings that a passage stands under; null where the title says as much. */
export function heading({ title, citation }) {
  const path = citation.heading_path;
  if (!path.length || (path.length === 1 && path[0] === (title || path[0]))) return null;
  const parts = path.flatMap((part) => [
    " › ",
    foreign("bdi", "", visible(part)),
  ]);
  return element("span", "heading", ...parts.slice(1));
}

/** A verdict by sign, word and colour. */
export function badge(verdict) {
  const status = verdict?.status ?? "not checked";
  const sign = element("span", "", VERDICTS[status]?.[0] ?? "–");
  sign.ariaHidden = "true";
  return element("span", `badge ${verdict?.status ?? "unchecked"}`, sign, ` ${status}`);
}

/** What a verdict means, and the reason that the service gives. */
export function explained(verdict) {
  if (!verdict) return "The source was not read again.";
  const means = VERDICTS[verdict.status]?.[1] ?? "";
  return verdict.status === "verified" ? means : `${means} (${visible(verdict.reason)})`;
}

function range([first, last]) {
  return first === last ? `${first}` : `${first}–${last}`;
}
