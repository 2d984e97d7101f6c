// The search page: what the address says is what is shown.

import { address, state } from "./address.js";
import { collections, token } from "./api.js";
import { chosen, offer, onChoice } from "./choosers.js";
import { DocumentView } from "./document.js";
import { showError } from "./errors.js";
import { Search } from "./search.js";

const $ = (id) => document.getElementById(id);
const box = $("query");
let known = { all: [], fallback: "default" };

const search = new Search({ refused: askForToken });
const view = new DocumentView({ closed, refused: askForToken });

async function start() {
  try {
    known = await collections(new AbortController().signal);
  } catch (error) {
    if (error.code === "unauthorized") return askForToken();
    return showError($("error"), error, start);
  }
  $("token").hidden = true;
  show();
}

/** Bring the page to what the address says. */
function show() {
  const { q, collection, mode, chunk } = state();
  const request = { query: q, collection: collection || usual(), mode: mode || "bm25" };
  box.value = q;
  document.title = q ? `${q} – groundkit search` : "groundkit search";
  offer(known.all, request);
  search.show(request, held(request.collection));
  if (!chunk) view.dismiss();
  else if (chunk !== view.chunk) view.open(chunk, request.collection, search.marks(chunk));
}

function go(wanted, mark) {
  if (address(wanted) !== address(state())) history.pushState(mark, "", address(wanted));
  show();
}

/** The collection to search where none is named. */
function usual() {
  const { all, fallback } = known;
  return all.some((one) => one.name === fallback) ? fallback : (all[0]?.name ?? fallback);
}

function held(name) {
  const one = known.all.find((entry) => entry.name === name);
  const count = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
  return one ? `${count(one.documents, "document")}, ${count(one.chunks, "passage")}` : "";
}

function askForToken() {
  view.dismiss();
  search.clear();
  $("token-says").textContent = token.get()
    ? "The server did not accept this token."
    : "This server asks for a token.";
  $("token").hidden = false;
  $("token-value").focus();
}

/** A person closed the document. */
function closed(chunk) {
  if (history.state?.opened) history.back();
  else history.replaceState(null, "", address({ ...state(), chunk: "" }));
  (search.link(chunk) ?? box).focus();
}

function submitted(event) {
  event.preventDefault();
  const { collection, mode } = chosen(known.all);
  search.forget();
  go({
    q: box.value.trim(),
    collection: collection === usual() ? "" : collection,
    mode: mode === "bm25" ? "" : mode,
  });
}

/** A click anywhere on a result opens it, unless it selects text. */
function clicked(event) {
  if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const inner = event.target.closest("a, summary, button");
  if (inner ? !inner.dataset.chunk : !getSelection().isCollapsed) return;
  const link = inner ?? event.target.closest("#results > li")?.querySelector("a");
  if (!link) return;
  event.preventDefault();
  link.focus();
  go({ ...state(), chunk: link.dataset.chunk }, { opened: true });
}

function pressed(event) {
  if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey) {
    if ($("document").open || event.target.matches("input, select, textarea")) return;
    event.preventDefault();
    box.focus();
    box.select();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    const stops = [box, ...$("results").querySelectorAll("a.title")];
    const from = stops.indexOf(document.activeElement);
    if (from < 0) return;
    event.preventDefault();
    stops[from + (event.key === "ArrowDown" ? 1 : -1)]?.focus();
  }
}

$("search").addEventListener("submit", submitted);
onChoice(() => $("search").requestSubmit());
$("token").addEventListener("submit", (event) => {
  event.preventDefault();
  token.set($("token-value").value.trim());
  $("token-value").value = "";
  start();
});
$("results").addEventListener("click", clicked);
addEventListener("keydown", pressed);
addEventListener("popstate", show);
start();
