// The choosers of the collection and of how to search; one with nothing to choose is hidden.

const MODES = { bm25: "words", dense: "meaning", hybrid: "words and meaning" };
const [collections, collection, modes, mode] = [
  "collections", "collection", "modes", "mode",
].map((id) => document.getElementById(id));

/** Offer what a server has, with what a request names chosen. */
export function offer(known, request) {
  const names = new Set([...known.map((one) => one.name), request.collection]);
  const found = known.find((one) => one.name === request.collection)?.modes ?? [];
  fill(collection, names, (name) => name, request.collection);
  fill(mode, new Set([...found, request.mode]), (name) => MODES[name] ?? name, request.mode);
  collections.hidden = names.size < 2;
  modes.hidden = mode.length < 2;
}

/** What a person chose; a mode that the chosen collection lacks is none. */
export function chosen(known) {
  const has = known.find((one) => one.name === collection.value)?.modes ?? [mode.value];
  return { collection: collection.value, mode: has.includes(mode.value) ? mode.value : "bm25" };
}

/** Call back when a person chooses. */
export function onChoice(then) {
  collection.addEventListener("change", then);
  mode.addEventListener("change", then);
}

function fill(select, values, label, value) {
  select.replaceChildren(...[...values].map((name) => new Option(label(name), name)));
  select.value = value;
}
