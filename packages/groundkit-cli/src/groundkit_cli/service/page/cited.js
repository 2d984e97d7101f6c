// How a citation is told: its place, its heading, its verdict.

import { element, foreign, visible } from "./text.js";

const SIGNS = { verified: "✓", moved: "→", drifted: "!", unresolvable: "✕" };

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
  const sign = element("span", "", SIGNS[status] ?? "–");
  sign.ariaHidden = "true";
  return element("span", `badge ${verdict?.status ?? "unchecked"}`, sign, ` ${status}`);
}

/** The reason that the service gives for a verdict, as a sentence. */
export function explained(verdict) {
  if (!verdict) return "The source was not read again.";
  const reason = visible(verdict.reason);
  const told = `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
  if (verdict.span) return told;
  return `${told} The text below is as it was indexed.`;
}

function range([first, last]) {
  return first === last ? `${first}` : `${first}–${last}`;
}
