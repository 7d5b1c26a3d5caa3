// Attempts on the clipboard that a click may permit. They begin inside of the handler of the click that starts the
// suite, because WebKit permits nothing after it. Writing by a click is open in each engine (decision record 0106).
import { ATTEMPT_TIME_LIMIT_MS, CLOSED, made } from "./attempt-tools.mjs";

/** Runs a command of the editor on the text of a new field. */
function editorCommand(name) {
  const field = made("textarea", { value: "taken" });
  document.body.append(field);
  field.select();
  const isDone = document.execCommand(name);
  const { value } = field;
  field.remove();
  return { isDone, value };
}

const clickAttempts = {
  "a text by its function": async () => (await navigator.clipboard.writeText("taken"), "written"),
  "a text by the copy command": () => editorCommand("copy").isDone && "written",
  "a text by the cut command": () => editorCommand("cut").isDone && "written",
  "the paste command": () => {
    const { isDone, value } = editorCommand("paste");
    return (isDone || value !== "taken") && "read";
  },
  "the clipboard's text": async () => (await navigator.clipboard.readText(), "read"),
  "the clipboard's content": async () => (await navigator.clipboard.read(), "read"),
};

/**
 * Begins all attempts at once, and resolves to their outcomes by their names. Must be called by the handler of a click.
 */
export function beginClickAttempts() {
  const limit = new Promise((resolve) => setTimeout(resolve, ATTEMPT_TIME_LIMIT_MS, CLOSED));
  const begun = Object.entries(clickAttempts).map(([name, attempt]) => {
    // The function runs at once, and what it throws rejects the promise.
    const tried = new Promise((resolve) => resolve(attempt()));
    const outcome = tried.then((value) => value || CLOSED, () => CLOSED);
    return Promise.race([outcome, limit]).then((value) => [name, value]);
  });
  return Promise.all(begun).then(Object.fromEntries);
}
