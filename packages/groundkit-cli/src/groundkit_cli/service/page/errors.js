// What went wrong, in a node that is announced.

import { element } from "./text.js";

/** Say what went wrong, with its code and the request's id, and offer to try again. */
export function showError(node, error, again) {
  const id = error.requestId ? ` · request ${error.requestId}` : "";
  const told = [element("p", "", error.message)];
  if (error.detail && error.detail !== error.message) told.push(element("p", "", error.detail));
  told.push(element("p", "quiet", `${error.code ?? error.name}${id}`));
  const button = element("button", "", "Try again");
  button.type = "button";
  button.addEventListener("click", () => {
    node.replaceChildren();
    again();
  });
  node.replaceChildren(...told, button);
}
