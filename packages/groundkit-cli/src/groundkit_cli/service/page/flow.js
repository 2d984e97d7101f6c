// Passages of one document as running text: what they share is shown once.

import { element, marked } from "./text.js";

/** Fills a node with passages, the first ones given in the middle and others at either end. */
export class Flow {
  constructor(node) {
    this.node = node;
    node.replaceChildren();
  }

  /** Start with a window; gives the node of the cited passage, the one at `at`. */
  begin(passages, at, spans) {
    const cited = passages[at];
    const points = Array.from(cited.content);
    const node = element("mark", "cited", ...marked(points, spans), ...rest(cited));
    node.id = "cited";
    this.node.replaceChildren(node);
    this.first = this.last = cited.citation;
    this.start = cited.citation.start;
    this.end = this.start + points.length;
    this.after(passages.slice(at + 1));
    this.before(passages.slice(0, at));
    return node;
  }

  /** Add what follows. */
  after(passages) {
    for (const passage of passages) {
      const { citation } = passage;
      const points = Array.from(passage.content);
      const shown = points.slice(Math.max(0, this.end - citation.start));
      if (shown.length) {
        this.node.append(
          ...between(this.last, citation, this.end),
          element("span", "", ...marked(shown, [])),
          ...rest(passage),
        );
        this.end = citation.start + points.length;
        this.last = citation;
      }
    }
  }

  /** Add what comes before. */
  before(passages) {
    for (const passage of passages.toReversed()) {
      const { citation } = passage;
      const points = Array.from(passage.content).slice(0, Math.max(0, this.start - citation.start));
      if (points.length) {
        this.node.prepend(
          element("span", "", ...marked(points, [])),
          ...rest(passage),
          ...between(citation, this.first, citation.start + points.length),
        );
        this.start = citation.start;
        this.first = citation;
      }
    }
  }
}

/** What stands for the blanks between two passages that no passage holds. */
function between(one, next, end) {
  if (next.start <= end) return [];
  if (one.lines && next.lines && one.lines[1] === next.lines[0]) return [" "];
  const near = one.lines && next.lines ? next.lines[0] - one.lines[1] : next.start - end;
  const blank = near === 1 ? "\n" : "\n\n";
  if (!next.pages || next.pages[0] === one.pages?.[1]) return [blank];
  const page = element("span", "page");
  page.dataset.page = `page ${next.pages[0]}`;
  return [blank, page];
}

function rest({ cut }) {
  return cut ? [element("span", "cut", " [The rest of this passage is too long to be sent.]")] : [];
}
