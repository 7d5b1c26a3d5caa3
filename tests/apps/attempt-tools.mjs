// Functions that the attempts share. All files of attempts are joined into the script of one page, without imports.

/** Outcome of an attempt that reached nothing. */
export const CLOSED = "closed";
/** Time limit of one attempt in milliseconds. An attempt without an outcome by then reached nothing. */
export const ATTEMPT_TIME_LIMIT_MS = 1_000;
/** Time in milliseconds after which an attempt whose effect the page cannot observe is left to the listener. */
const UNOBSERVED_WAIT_MS = 200;

/** Returns `CLOSED` if an action throws or returns no value, and otherwise a description of the returned value. */
export async function reach(what, act) {
  const value = await act();
  const isNothing = value === undefined || value === null || value === false || value === "" || value === 0;
  return isNothing ? CLOSED : `reached ${what}: ${String(value).slice(0, 80)}`;
}

/** Performs an action whose effect only the listener observes. */
export async function unobserved(act) {
  await act();
  await new Promise((end) => setTimeout(end, UNOBSERVED_WAIT_MS));
  return CLOSED;
}

/** Creates an element with these properties and attributes. */
export function made(tag, properties = {}, attributes = {}) {
  const element = Object.assign(document.createElement(tag), properties);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** Adds an element to the document, and reports whether it loads something. */
export function loads(element, parent = document.body) {
  return new Promise((resolve) => {
    const end = (outcome) => {
      element.remove();
      resolve(outcome);
    };
    for (const name of ["load", "loadedmetadata", "loadeddata"]) {
      element.addEventListener(name, () => end(`the element ${element.localName} loaded`));
    }
    element.addEventListener("error", () => end(CLOSED));
    setTimeout(() => end(CLOSED), ATTEMPT_TIME_LIMIT_MS - 100);
    parent.append(element);
  });
}

/** Reports an action that no directive with this prefix of the document's policy blocks. */
export function blocked(prefix, act) {
  return new Promise((resolve) => {
    const end = (outcome) => {
      document.removeEventListener("securitypolicyviolation", listen);
      resolve(outcome);
    };
    const listen = ({ effectiveDirective }) => effectiveDirective.startsWith(prefix) && end(CLOSED);
    document.addEventListener("securitypolicyviolation", listen);
    setTimeout(() => end("the policy blocks nothing"), ATTEMPT_TIME_LIMIT_MS - 100);
    act();
  });
}

/** Resolves with the first message that another window or worker posts, if it is not of the protocol of apps. */
export function message(target = window) {
  return new Promise((resolve) => {
    const listen = ({ data }) => {
      if (data?.jsonrpc === "2.0") return;
      target.removeEventListener("message", listen);
      resolve(typeof data === "string" ? data : JSON.stringify(data));
    };
    target.addEventListener("message", listen);
    setTimeout(() => target.removeEventListener("message", listen), ATTEMPT_TIME_LIMIT_MS);
  });
}

/** Runs a script in a nested frame with this address or source, and returns the message that it posts. */
export async function nested(properties) {
  const frame = made("iframe", properties);
  const posted = message();
  document.body.append(frame);
  const limit = new Promise((resolve) => setTimeout(resolve, ATTEMPT_TIME_LIMIT_MS - 100, CLOSED));
  const outcome = await Promise.race([posted, limit]);
  frame.remove();
  return outcome;
}

/** Script of a nested document that requests `url`, and posts "closed" if nothing is reached. */
export const nestedScript = (url) =>
  `fetch(${JSON.stringify(url)}, { mode: "no-cors" }).then(() => "reached by fetch", () => "closed")
    .then((outcome) => parent.postMessage(window.webkit?.messageHandlers?.ipc ? "reached the IPC" : outcome, "*"));`;
/** HTML document with a nested script. The end tag is divided, because this text is part of a script. */
export const nestedDocument = (url) => `<script>${nestedScript(url)}</scr${"ipt>"}`;
