// Apps of servers (MCP Apps) in the real window: approval, a call by the app, and attempts to escape from the frame.
import assert from "node:assert/strict";
import { join } from "node:path";

import { APP_FRAME, callTool, RESULT } from "./calls.mjs";

const ESCAPE = "escape";
const ESCAPE_PAGE = "ui://escape/page.html";
/** Methods of the requests that Drawbridge sends to a server whose tool is called and whose app is shown. */
const KNOWN_METHODS = [
  "server/discover",
  "initialize",
  "ping",
  "tools/list",
  "resources/list",
  "resources/templates/list",
  "tools/call",
  "resources/read",
];
/** Entry about one of the messages that the attempts post to the page, none of which is one of the protocol. */
const MALFORMED = /^the app of "try_escape" sent a message that was not processed as sent \(\w+\)$/;
/** Time limit of all attempts to escape in milliseconds. */
const ATTEMPTS_MS = 120_000;

/**
 * Outcomes of attempts inside of a click. WebKit lets any page write to the clipboard in a click, as decision record
 * 0106 and the guide say, and lets none read it.
 */
const CLICK_OUTCOMES = {
  "a text by its function": "written",
  "a text by the copy command": "written",
  "a text by the cut command": "written",
  "the paste command": "closed",
  "the clipboard's text": "closed",
  "the clipboard's content": "closed",
};

/** Returns number, name and outcome of all attempts once the last has ended. */
function finishedAttempts(page) {
  return page.inFrame(APP_FRAME, () =>
    page.run(() => {
      if (document.getElementById("results").dataset.state !== "done") return null;
      const rows = [...document.querySelectorAll("#results tbody tr")];
      return rows.map((row) => [...row.cells].map((cell) => cell.textContent));
    }),
  );
}

/** Checks that a server received only what the user's own steps cause, and its app requested nothing. */
function assertOnlyKnownCalls({ entries, dropped }) {
  assert.equal(dropped, 0, "the activity log should be complete");
  assert.equal(entries[0]?.seq, 1, "the activity should be listed from its beginning");
  const requests = entries.filter(({ kind }) => kind === "request");
  const received = requests.filter(({ sent }) => !sent);
  assert.deepEqual(received, [], "the server should request nothing");
  const unknown = requests.filter(({ method }) => !KNOWN_METHODS.includes(method));
  assert.deepEqual(unknown, [], "the server should receive no other requests");
  const values = (method, member) => {
    const value = new RegExp(`"${member}":"([^"]*)"`);
    return requests.filter((request) => request.method === method).map(({ preview }) => value.exec(preview)?.[1]);
  };
  assert.deepEqual(values("tools/call", "name"), ["try_escape", "connections"], "only the user should call tools");
  const read = new Set(values("resources/read", "uri"));
  assert.deepEqual([...read], [ESCAPE_PAGE], "only the page of the app should be read");
  const aboutApp = entries.map(({ preview }) => preview).filter((text) => text.startsWith("the app of "));
  const requested = aboutApp.filter((text) => !MALFORMED.test(text));
  assert.deepEqual(requested, [], "the app should request nothing");
  assert.ok(aboutApp.length > 0, "the messages that the attempts post should be listed");
}

export async function apps(page, place, step) {
  for (const era of ["legacy", "modern"]) {
    await step(`an app of a ${era} server is shown after its approval, and draws the result`, async () => {
      await callTool(page, era, "show_board");
      await page.allow("Allow once");
      await page.waitForText("This result has an app", RESULT);
      assert.equal(await page.run((frame) => document.querySelector(frame), APP_FRAME), null, "no frame should exist yet");
      await page.click("button", "Show app", RESULT);
      await page.waitForText(`Show an app of ${era}?`, RESULT);
      await page.picture(`${era}-app-review`);
      await page.click("button", "Show app", RESULT);
      await page.inFrame(APP_FRAME, () => page.waitForText("Grease the winch"));
      await page.picture(`${era}-app`);
    });

    await step(`a call by an app of a ${era} server requires consent, which names the app`, async () => {
      await page.inFrame(APP_FRAME, () => page.click("button", /^Move/));
      await page.waitForConsentRequest("show_board");
      await page.picture(`${era}-consent-request-app`);
      await page.click("button", "Deny", "[data-testid=consent-request]");
      await page.inFrame(APP_FRAME, () => page.waitForText(/refused/));
    });
  }

  await step("X55 an app that tries to escape reaches nothing", async () => {
    const server = join(import.meta.dirname, "../apps/server.mjs");
    const { refused } = await page.invoke("add_server", {
      name: ESCAPE,
      config: { type: "stdio", command: process.execPath, args: [server], env: {} },
    });
    assert.equal(refused, undefined, "the server should be added");
    await page.go(`#/server/${ESCAPE}/overview`);
    await page.click("button", "Start", "main");
    await page.allow("Always allow this command");
    await page.waitForText("ready", "main header");
    await callTool(page, ESCAPE, "try_escape");
    await page.allow("Allow once");
    await page.click("button", "Show app", RESULT);
    await page.waitForText(`Show an app of ${ESCAPE}?`, RESULT);
    await page.click("button", "Show app", RESULT);
    await page.inFrame(APP_FRAME, () => page.click("button", "Start"));
    const attempts = await page.until("the attempts to end", () => finishedAttempts(page), ATTEMPTS_MS);
    await page.picture("app-escape");
    assert.ok(attempts.length >= 60, `at least 60 attempts should be made, not ${attempts.length}`);
    const open = attempts.filter(([, , outcome]) => outcome !== "closed");
    assert.deepEqual(open, [], "no attempt should reach anything");
    const ofClick = await page.inFrame(APP_FRAME, () =>
      page.run(() => JSON.parse(document.getElementById("results").dataset.click)),
    );
    assert.deepEqual(ofClick, CLICK_OUTCOMES, "a click should permit writing to the clipboard only");
    await callTool(page, ESCAPE, "connections");
    await page.allow("Allow once");
    await page.waitForText(/"?connections"?/, RESULT);
    const text = await page.text(RESULT);
    assert.match(text, /\[\s*\]/, "the listener should have no connection");
    const { value } = await page.invoke("read_activity", { server: ESCAPE, after: null, limit: 2000 });
    assertOnlyKnownCalls(value);
  });
}
