// The document of a result, open at the cited passage.

import { call } from "./api.js";
import { badge, explained, heading, place, titleOf } from "./cited.js";
import { showError } from "./errors.js";
import { Flow } from "./flow.js";
import { element } from "./text.js";

const AROUND = { before: 6, after: 12 };
const part = (name) => document.getElementById(`document-${name}`);
const [dialog, scroll, earlier, later] = ["document", "scroll", "earlier", "later"].map((id) =>
  document.getElementById(id),
);

/** The dialog; `closed` is called when a person closes it, `refused` when a token is asked for. */
export class DocumentView {
  chunk = null;
  #loading = new AbortController();
  #request;
  #flow;
  #refused;

  constructor({ closed, refused }) {
    this.#refused = refused;
    document.getElementById("close").addEventListener("click", () => dialog.close());
    dialog.addEventListener("pointerdown", ({ target }) => {
      if (target === dialog) dialog.close();
    });
    dialog.addEventListener("close", () => {
      const { chunk } = this;
      this.#forget();
      if (chunk) closed(chunk);
    });
    earlier.addEventListener("click", () => this.#more(earlier, "previous_cursor", "before"));
    later.addEventListener("click", () => this.#more(later, "next_cursor", "after"));
  }

  /** Show a chunk's document; `spans` are the words to mark in it. */
  async open(chunk, collection, spans = []) {
    this.#forget();
    this.chunk = chunk;
    this.#request = { chunk_id: chunk, collection, ...AROUND };
    this.#clear();
    if (!dialog.open) dialog.showModal();
    await this.#guarded(() => this.open(chunk, collection, spans), async (signal) => {
      const window = await call("fetch_chunk", this.#request, signal);
      if (!signal.aborted) this.#show(window, spans);
    });
  }

  /** Close without telling anyone. */
  dismiss() {
    this.#forget();
    if (dialog.open) dialog.close();
  }

  #forget() {
    this.#loading.abort();
    this.#loading = new AbortController();
    this.chunk = null;
  }

  #clear() {
    part("title").textContent = "Opening…";
    for (const name of ["place", "heading", "verdict", "link", "error", "status"]) {
      part(name).replaceChildren();
    }
    this.#flow = new Flow(document.getElementById("text"));
    earlier.hidden = later.hidden = true;
  }

  #show(window, spans) {
    const { passages, at, verification, link } = window;
    const { citation } = passages[at];
    part("title").textContent = titleOf({ title: window.title, citation });
    part("place").replaceChildren(place(citation, verification));
    part("heading").replaceChildren(...[heading({ title: window.title, citation })].filter(Boolean));
    part("verdict").replaceChildren(badge(verification), ` ${explained(verification)}`);
    if (/^https?:\/\//i.test(link ?? "")) part("link").replaceChildren(outward(link));
    const cited = this.#flow.begin(passages, at, spans);
    this.#offer(earlier, window.previous_cursor, window.before);
    this.#offer(later, window.next_cursor, window.after);
    const tall = cited.offsetHeight > scroll.clientHeight;
    cited.scrollIntoView({ block: tall ? "start" : "center", behavior: "instant" });
    scroll.focus({ preventScroll: true });
  }

  async #more(button, cursor, side) {
    if (button.ariaDisabled === "true") return;
    button.ariaDisabled = "true";
    part("error").replaceChildren();
    const [chunk, collection] = [this.chunk, this.#request.collection];
    await this.#guarded(() => this.open(chunk, collection), async (signal) => {
      const body = { ...this.#request, cursor: button.dataset.cursor };
      const window = await call("fetch_chunk", body, signal);
      if (signal.aborted) return;
      const fromEnd = scroll.scrollHeight - scroll.scrollTop;
      this.#flow[side](window.passages);
      this.#offer(button, window[cursor], window[side]);
      if (button === earlier) scroll.scrollTop = scroll.scrollHeight - fromEnd;
      if (button.hidden) scroll.focus({ preventScroll: true });
      part("status").textContent = `${window.passages.length} passages loaded`;
    });
    button.ariaDisabled = null;
  }

  #offer(button, cursor, left) {
    button.hidden = !cursor;
    button.dataset.cursor = cursor ?? "";
    const count = left === 1 ? "1 passage" : `${left.toLocaleString("en")} passages`;
    button.textContent = `${button === earlier ? "Earlier" : "Later"} text (${count})`;
  }

  async #guarded(again, work) {
    const { signal } = this.#loading;
    try {
      await work(signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error.code === "unauthorized") return this.#refused();
      if (part("title").textContent === "Opening…") part("title").textContent = "Document";
      showError(part("error"), error, again);
    }
  }
}

function outward(link) {
  const node = element("a", "", "Open the source");
  Object.assign(node, { href: link, target: "_blank", rel: "noopener noreferrer" });
  return node;
}
