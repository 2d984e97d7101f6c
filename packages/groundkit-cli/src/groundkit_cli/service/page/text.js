// Texts of documents as nodes. Offsets count code points, as the service's do; nothing here is HTML.

const EXCERPT = 480;
const SNAP = 40;

/** An element with a class and children, which are nodes or strings. */
export function element(name, className, ...children) {
  const node = document.createElement(name);
  if (className) node.className = className;
  node.append(...children.filter((child) => child !== null));
  return node;
}

/** An element with text of a document, in the direction that the text has. */
export function foreign(name, className, ...children) {
  const node = element(name, className, ...children);
  node.dir = "auto";
  node.lang = "";
  return node;
}

/** Control characters as the pictures that Unicode has of them, one for one. */
export function visible(text) {
  return text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, (sign) => {
    const code = sign.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : "\ufffd";
  });
}

/** Nodes for the code points from start to end, those within the spans in marks. */
export function marked(points, spans, start = 0, end = points.length) {
  const nodes = [];
  const slice = (from, to) => visible(points.slice(from, to).join(""));
  let at = start;
  for (const [from, to] of spans) {
    const first = Math.max(from, at);
    const last = Math.min(to, end);
    if (first >= last) continue;
    if (first > at) nodes.push(slice(at, first));
    nodes.push(element("mark", "word", slice(first, last)));
    at = last;
  }
  if (at < end) nodes.push(slice(at, end));
  return nodes;
}

/** The part of a passage that holds most marked words, with an ellipsis where it is cut. */
export function excerpt(content, spans) {
  const points = Array.from(content);
  if (points.length <= EXCERPT * 1.25) return marked(points, spans);
  const start = snapped(points, Math.min(densest(spans), points.length - EXCERPT));
  const end = snapped(points, Math.min(start + EXCERPT, points.length));
  return [
    start > 0 ? "… " : "",
    ...marked(points, spans, start, end),
    end < points.length ? "…" : "",
  ];
}

function densest(spans) {
  let best = 0;
  let most = 0;
  spans.forEach(([from], index) => {
    let last = index;
    while (last < spans.length && spans[last][1] <= from + EXCERPT - SNAP) last += 1;
    if (last - index > most) [best, most] = [Math.max(0, from - SNAP), last - index];
  });
  return best;
}

function snapped(points, place) {
  if (place <= 0 || place >= points.length) return place;
  for (let at = place; at > place - SNAP && at > 0; at -= 1) {
    if (/\s/.test(points[at - 1])) return at;
  }
  return place;
}
