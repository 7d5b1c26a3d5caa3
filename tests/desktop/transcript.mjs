// A consent request as a screen reader receives it: the objects that the window exports to assistive technology
// (AT-SPI), in reading order. `run.mjs transcript` compares them with `transcripts/approval.txt`, and writes the file
// instead if UPDATE_TRANSCRIPTS is set.
import assert from "node:assert/strict";
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { accessibleObjects } from "./accessible.mjs";

const CONSENT_REQUEST = "[data-testid=consent-request]";
const TRANSCRIPT_FILE = join(import.meta.dirname, "transcripts/approval.txt");
/** Character in the text of an object that stands for a child. */
const CHILD_CHARACTER = "\uFFFC";
const TITLE = "Run add on demo?";
const TAB = "\uE004";

/** Content that a user who can't see the request must hear, in this order. */
const REQUIRED_LINES = [
  ["the title", /^dialog "Run add on demo\?" \(modal\)$/],
  ["who asks", /^You asked\.$/],
  ["how the server runs", /^local process$/],
  ["the command of the server", /^<demo-server>$/],
  ["the receiver", /^Sends to demo:/],
  ["the name of the first argument", /^a$/],
  ["the value of the first argument", /^2$/],
  ["the name of the second argument", /^b$/],
  ["the value of the second argument", /^3$/],
  ["the shortcuts", /^A allows, D denies, Esc decides later$/],
  ["the focused denial", /^button "Deny" \(focused\)$/],
  ["the approval and how to give it", /^button "Allow once": A allows, D denies, Esc decides later$/],
  ["the reason for the request", /^Why am I asked\? Rule: /],
];
/** Roles that a screen reader does not announce. */
const SILENT_ROLES = new Set(["section", "paragraph", "static", "unknown", "description term", "description value"]);

const words = (text) => text.replace(/\s+/g, " ").trim();

/** Returns the object with this role and name that is first in reading order, or `undefined`. */
function find(object, role, name) {
  if (object.role === role && words(object.name) === name) return object;
  for (const child of object.children) {
    const found = find(child, role, name);
    if (found) return found;
  }
  return undefined;
}

/** Returns the lines that a screen reader would say about an object and its children. */
function lines({ role, name, description, states, text, children }) {
  const said = words(name);
  const parts = text.split(CHILD_CHARACTER).map(words);
  const whole = words(text.replaceAll(CHILD_CHARACTER, ""));
  // The text of each child has its place in the text of the object, or the text contains it.
  const isPlaced = parts.length === children.length + 1;
  const inner = children.flatMap((child, index) => [...(isPlaced ? [parts[index]] : []), ...lines(child)]);
  const content = isPlaced ? [...inner, parts.at(-1)] : [...parts, ...inner.filter((line) => !whole.includes(line))];
  const isNamedByContent = whole !== "" && said.includes(whole);
  const rest = content.filter((line) => line !== "" && !(isNamedByContent && said.includes(line)));
  if (said === "" || SILENT_ROLES.has(role)) return said === "" || rest.length > 0 ? rest : [said];
  // Releases of AT-SPI name this role differently.
  const kind = role === "push button" ? "button" : role;
  const about = words(description);
  const hint = about === "" || about === said ? "" : `: ${about}`;
  return [`${kind} ${JSON.stringify(said)}${hint}${states.length > 0 ? ` (${states.join(", ")})` : ""}`, ...rest];
}

/** Replaces what differs between two computers or two runs. */
function normalized(line, place) {
  return line
    .replaceAll(realpathSync(place.demo), "<demo-server>")
    .replaceAll(place.home, "<home>")
    .replace(/\b[0-9a-f]{64}\b/g, "<hash>")
    .replace(/Hash: [0-9a-f]{8}/g, "Hash: <hash>");
}

async function transcript(place) {
  const dialog = find(await accessibleObjects(place), "dialog", TITLE);
  return dialog ? lines(dialog).map((line) => normalized(line, place)) : [];
}

export async function approvalTranscript(page, place, step) {
  await step("a screen reader receives a consent request completely and in order", async () => {
    await page.click("button", "Start the demo server");
    await page.allow("Always allow this command");
    await page.click("button", "Call", "main");
    await page.waitForConsentRequest(TITLE);
    await page.until("the request to be viewed completely, and armed", async () => {
      if (await page.isArmed()) return true;
      await page.wheel(`${CONSENT_REQUEST} section`);
      return false;
    });
    let found = [];
    // The objects follow the page with a delay.
    await page.until("the request and its shortcuts to be exported", async () => {
      found = await transcript(place);
      return found.some((line) => line.includes("A allows"));
    });
    if (process.env.UPDATE_TRANSCRIPTS) writeFileSync(TRANSCRIPT_FILE, `${found.join("\n")}\n`);
    let from = 0;
    for (const [what, pattern] of REQUIRED_LINES) {
      const at = found.findIndex((line, index) => index >= from && pattern.test(line));
      assert.ok(at >= 0, `${what} (${pattern}) should be read after line ${from}:\n${found.join("\n")}`);
      from = at + 1;
    }
    const heard = words(found.join(" "));
    const missing = (await page.consentRequestText()).split("\n").map((line) => normalized(words(line), place));
    assert.deepEqual(missing.filter((line) => !heard.includes(line)), [], "everything visible should be exported");
    // Roles and groups depend on the version of WebKitGTK.
    if (process.env.COMPARE_TRANSCRIPTS) {
      assert.deepEqual(found, readFileSync(TRANSCRIPT_FILE, "utf8").trimEnd().split("\n"), "the transcript should be the stored one");
    }
    await page.press(TAB);
    await page.press("d");
    await page.until("the request to be denied", async () => (await page.consentRequestText()) === "");
  });
}
