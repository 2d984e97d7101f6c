// What is shown, kept behind the # of the address: it is not sent to a server, nor logged by one.

const NAMES = ["q", "collection", "mode", "chunk"];

/** What the address says; "" for what it leaves out. */
export function state() {
  const given = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(NAMES.map((name) => [name, given.get(name) ?? ""]));
}

/** The address of a state. */
export function address(wanted) {
  return `#${new URLSearchParams(Object.entries(wanted).filter(([, value]) => value))}`;
}
