// Searching: the newest question wins, and its results are listed.

import { address, state } from "./address.js";
import { call } from "./api.js";
import { showError } from "./errors.js";
import { resultItem } from "./results.js";

const MOST = 100;
const [error, status, results, more, moreError] = [
  "error", "status", "results", "more", "more-error",
].map((id) => document.getElementById(id));

/** The list of results; `refused` is called when a token is asked for. */
export class Search {
  #newest = new AbortController();
  #asked = "";
  #marks = new Map();
  #refused;

  constructor({ refused }) {
    this.#refused = refused;
  }

  /** Search, unless the results of this request are shown. */
  show(request, idle) {
    if (JSON.stringify(request) === this.#asked) return;
    if (request.query) this.run(request);
    else this.clear(idle);
  }

  /** Have the next request searched even if it is the same. */
  forget() {
    this.#asked = "";
  }

  /** Show no results. */
  clear(told = "") {
    this.#start("");
    this.#empty(told);
  }

  /** Search anew or go on; `further` is what asking for more adds to the request. */
  async run(request, further = null) {
    const signal = this.#start(JSON.stringify(request));
    results.ariaBusy = "true";
    status.textContent = "Searching…";
    try {
      const response = await call("search", { ...request, ...further, highlight: true }, signal);
      if (!signal.aborted) this.#list(response, request, further);
    } catch (problem) {
      if (!signal.aborted) this.#failed(problem, request, further);
    }
  }

  /** The words that matched in a chunk that was found. */
  marks(chunk) {
    return this.#marks.get(chunk) ?? [];
  }

  /** The link of a chunk that was found. */
  link(chunk) {
    return [...results.querySelectorAll("a")].find((link) => link.dataset.chunk === chunk);
  }

  #start(asked) {
    this.#newest.abort();
    this.#newest = new AbortController();
    this.#asked = asked;
    error.replaceChildren();
    moreError.replaceChildren();
    return this.#newest.signal;
  }

  #empty(told) {
    this.#marks = new Map();
    results.replaceChildren();
    results.ariaBusy = null;
    more.hidden = true;
    status.textContent = told;
  }

  #list(response, request, further) {
    if (!further) this.#empty("");
    const shown = results.children.length;
    const here = (chunk) => address({ ...state(), chunk });
    for (const result of response.results) {
      const chunk = result.citation.chunk_id;
      // A longer list begins with what is shown.
      if (this.#marks.has(chunk)) continue;
      this.#marks.set(chunk, result.highlights ?? []);
      results.append(resultItem(result, here));
    }
    const next = following(response, further, results.children.length);
    if (results.children.length === shown && next) return this.run(request, next);
    results.ariaBusy = null;
    more.hidden = !next;
    more.onclick = () => this.run(request, next);
    status.textContent = counted(response.mode);
    if (further) results.children[shown]?.querySelector("a").focus();
  }

  #failed(problem, request, further) {
    results.ariaBusy = null;
    if (problem.code === "unauthorized") return this.#refused();
    const again = () => this.run(request);
    if (further) {
      more.hidden = true;
      status.textContent = counted(request.mode);
      // The server's own limit is smaller.
      if (problem.code === "invalid_request") return;
      return showError(moreError, problem, again);
    }
    this.#empty("");
    showError(error, problem, again);
  }
}

/** What asks for more results: a cursor where a response was full, else a longer list. */
function following({ next_cursor: cursor, top_k }, further, shown) {
  if (cursor) return { ...further, cursor };
  const longer = !further?.top_k && shown === top_k && top_k < MOST;
  return longer ? { top_k: MOST } : null;
}

function counted(mode) {
  const count = results.children.length;
  if (count) return count === 1 ? "1 result" : `${count} results`;
  const how = mode === "bm25" ? "holds a word of" : "is near enough to";
  return `Nothing found: no passage ${how} the query.`;
}
