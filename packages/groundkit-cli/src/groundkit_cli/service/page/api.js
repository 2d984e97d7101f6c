// Calls of the service, relative to the page, so that a proxy may serve it under a prefix.

const TOKEN = `groundkit-token:${location.pathname}`;
const LONGEST_WAIT = 10;

const WORDS = {
  invalid_request: "The server did not understand this request.",
  unauthorized: "This server asks for a token.",
  forbidden_origin: "The server does not accept requests from this page's address.",
  unknown_host: "The server does not know itself by this address.",
  collection_not_found: "This collection does not exist.",
  chunk_not_found: "This passage is no longer in the collection.",
  stale_cursor: "The collection has changed since.",
  request_too_large: "This request is too long.",
  collection_unusable: "This collection cannot be read.",
  embedder_failed: "The query could not be turned into a vector.",
  overloaded: "The server has too much to do at the moment. Try again later.",
  timeout: "The server took too long.",
  request_timeout: "The request did not arrive in time.",
  response_too_large: "The answer is too long to be sent.",
  internal_error: "The server failed.",
};

/** What went wrong: words for a person, the server's own words, its code and the request's id. */
export class ServiceError extends Error {
  constructor(code, detail, requestId) {
    super(WORDS[code] ?? "The request failed.");
    Object.assign(this, { code, detail, requestId });
  }
}

export const token = {
  get: () => sessionStorage.getItem(TOKEN),
  set: (value) => sessionStorage.setItem(TOKEN, value),
};

/** The reply to one operation; an overloaded server is asked once more. */
export async function call(operation, body, signal) {
  let response = await send(operation, body, signal);
  if (response.status === 503 && response.headers.has("Retry-After")) {
    await pause(Number(response.headers.get("Retry-After")) || 1, signal);
    response = await send(operation, body, signal);
  }
  return read(response);
}

/** All collections; `default` is the one that a request without a name searches. */
export async function collections(signal) {
  const all = [];
  let page;
  do {
    page = await call("list_collections", page ? { cursor: page.next_cursor } : {}, signal);
    all.push(...page.collections);
  } while (page.next_cursor);
  return { all, fallback: page.default };
}

async function send(operation, body, signal) {
  const headers = { "Content-Type": "application/json" };
  if (token.get()) headers.Authorization = `Bearer ${token.get()}`;
  try {
    return await fetch(`v1/${operation}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      signal,
      cache: "no-store",
      redirect: "error",
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ServiceError("unreachable", "The server could not be reached.");
  }
}

async function read(response) {
  const id = response.headers.get("X-Request-ID");
  let reply;
  try {
    reply = await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServiceError(`HTTP ${response.status}`, "The reply is not from the service.", id);
  }
  if (response.ok) return reply;
  const { code = `HTTP ${response.status}`, message, request_id: given } = reply?.error ?? {};
  throw new ServiceError(code, message, given ?? id);
}

function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 1000 * Math.min(seconds, LONGEST_WAIT));
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
