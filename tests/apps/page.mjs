// Assembles the page of the escape suite: one HTML document with all attempts in its script.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const FOLDER = dirname(fileURLToPath(import.meta.url));
const ATTEMPTS = ["window", "network", "leaving", "click"].map((kind) => `${kind}-attempts.mjs`);
const SCRIPTS = ["attempt-tools.mjs", ...ATTEMPTS];

const read = (name) => readFileSync(join(FOLDER, name), "utf8");
/** Returns a script without its imports, since all scripts become one. */
const script = (name) => read(name).replace(/^import .*$/gm, "");

/** Returns the page for a listener on this port. */
export function escapePage(port) {
  // A function as the replacement, because a text could contain patterns such as "$&".
  return read("escape.html")
    .replace("__LISTENER_PORT__", () => String(port))
    .replace("/* ATTEMPTS */", () => SCRIPTS.map(script).join("\n"));
}
