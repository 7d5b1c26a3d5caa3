// The objects that the window exports to assistive technology (AT-SPI). They also show and operate a page whose driver
// session has ended. The app needs an environment without NO_AT_BRIDGE.
import { execFile } from "node:child_process";
import { basename, join } from "node:path";
import { promisify } from "node:util";

/** Python of the system, which has the bindings that the package manager installs. */
export const PYTHON = "/usr/bin/python3";
const SCRIPT = join(import.meta.dirname, "accessible_objects.py");
const MAX_OUTPUT_BYTES = 16 << 20;

const run = (place, ...args) =>
  promisify(execFile)(PYTHON, [SCRIPT, basename(place.app), ...args], { maxBuffer: MAX_OUTPUT_BYTES });

/** Returns the object of the app, with all others as its children. */
export async function accessibleObjects(place) {
  const { stdout } = await run(place);
  return JSON.parse(stdout);
}

/** Presses the first button with this name, like a screen reader. Rejects if there is none. */
export async function pressButton(place, name) {
  await run(place, name);
}

/** Returns all names and texts of an object and its children, divided by line breaks. */
export function allTexts({ name, text, children }) {
  return [name, text, ...children.map(allTexts)].filter((part) => part !== "").join("\n");
}
