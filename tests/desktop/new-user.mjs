// New users with separate homes: from the first start to the first approved call, and the import of ten servers from
// another app. Counts clicks and the time that the app takes, excluding reading time.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { closeWindow } from "./close-window.mjs";
import { waitForNone } from "./processes.mjs";

const CONSENT_REQUEST = "[data-testid=consent-request]";
const RESULT = "[data-testid=tool-result]";
/** Maximum number of clicks from the first start to the first approved call. */
const MAX_FIRST_CALL_CLICKS = 4;
/** Timeout in milliseconds for the ten imported servers to be ready. */
const TEN_SERVERS_READY_TIMEOUT_MS = 120_000;

/** Timeout in milliseconds for the app to end after closing, including its servers. */
const APP_END_TIMEOUT_MS = 20_000;

const seconds = (startedAt) => ((Date.now() - startedAt) / 1000).toFixed(1);

/** Scrolls through the consent request, and clicks its first approving button. */
async function scrollAndAllow(page, name) {
  await page.until("the consent request to be viewed completely, and armed", async () => {
    if (await page.isArmed()) return true;
    await page.wheel(`${CONSENT_REQUEST} section`);
    return false;
  });
  await page.goAndClick("button", name, CONSENT_REQUEST);
}

export async function firstCall(page, _place, step) {
  await step("a new user: four clicks from the first start to the first approved call", async () => {
    const startedAt = Date.now();
    await page.click("button", "Start the demo server");
    await scrollAndAllow(page, "Always allow this command");
    await page.click("button", "Call", "main");
    await page.waitForConsentRequest("Run add on demo?");
    await scrollAndAllow(page, "Allow once");
    await page.waitForText("2 + 3 = 5", RESULT);
    console.log(`        ${page.clicks} clicks; the app took ${seconds(startedAt)} s`);
    assert.ok(page.clicks <= MAX_FIRST_CALL_CLICKS, `the first call should take at most ${MAX_FIRST_CALL_CLICKS} clicks, not ${page.clicks}`);
  });
}

/** Writes the settings of another app with ten real servers, each with its own files. */
function ten(place) {
  const server = (name, ...args) => ({ command: process.execPath, args: [place.script(name), ...args] });
  const own = (kind, number) => join(place.home, `${kind}-${number}`);
  const servers = { everything: server("server-everything"), "everything-2": server("server-everything", "stdio") };
  for (const number of [1, 2, 3, 4]) {
    mkdirSync(own("files", number));
    servers[`files-${number}`] = server("server-filesystem", own("files", number));
    const env = { MEMORY_FILE_PATH: `${own("graph", number)}.jsonl` };
    servers[`memory-${number}`] = { ...server("server-memory"), env };
  }
  return servers;
}

export async function importTenServers(page, place, step) {
  const servers = ten(place);
  await step("a new user: ten servers of another app are imported, approved one by one, and ready", async () => {
    const count = Object.keys(servers).length;
    const file = join(place.home, ".cursor/mcp.json");
    mkdirSync(join(place.home, ".cursor"));
    writeFileSync(file, JSON.stringify({ mcpServers: servers }));
    const own = async () => (await page.invoke("read_snapshot", {})).value.servers.filter(({ name }) => name !== "demo");
    const startedAt = Date.now();
    await page.click("button", "Search for servers");
    await page.waitForText(`Found ${count} servers`, "main");
    await page.picture("ten-found");
    await page.click("button", `Import ${count} servers`, "main");
    await page.waitForText(`${count} servers imported`, "main");
    assert.deepEqual((await own()).map(({ state }) => state.is), Array(count).fill("stopped"), "no server should be started");
    await page.click("button", `Start ${count} servers`, "main");
    const commands = new Set();
    let ready = 0;
    while (ready < count) {
      const requestText = await page.consentRequestText();
      if (requestText.includes("wants to run on this computer")) {
        if (commands.size === 0) await page.picture("ten-asked");
        commands.add(requestText);
        await page.allow("Always allow this command");
      }
      // E7: requests of running servers outside of a call are not shown as dialogs.
      assert.ok(!requestText.includes("asks for your folders"), "a request for folders should not be shown as a dialog");
      ready = (await own()).filter(({ state }) => state.is === "ready").length;
      assert.ok(Date.now() - startedAt < TEN_SERVERS_READY_TIMEOUT_MS, `all servers should be ready in time, but ${ready} of ${count} are`);
    }
    assert.equal(commands.size, count, "each command should be shown and approved");
    console.log(`        ${page.clicks} clicks; ten servers are ready after ${seconds(startedAt)} s`);
    await page.picture("ten-ready");
  });

  await step("a new user: an imported server is called", async () => {
    const called = "#/server/files-1/tools/list_allowed_directories";
    // E7: requests for roots wait in the queue.
    const waiting = (await page.invoke("read_snapshot", {})).value.consentRequests;
    assert.ok(waiting.length > 0 && waiting.every(({ body }) => body.kind === "roots"), "only requests for folders should be pending");
    assert.equal(await page.consentRequestText(), "", "no request for folders should be shown as a dialog");
    await page.go(called);
    await page.click("button", "Call", "main");
    await page.allow("Allow once");
    await page.waitForText(join(place.home, "files-1"), RESULT);
  });
}

/** Ends the app and its servers, so that the next user can start the app. */
export async function endApp(page, place) {
  const { value } = await page.invoke("read_snapshot", {});
  await page.invoke("set_settings", { ...value.settings, onClose: "quit" });
  await closeWindow("Drawbridge");
  for (const program of [place.demo, "/dist/index.js", place.app]) {
    assert.deepEqual(await waitForNone(place.home, program, APP_END_TIMEOUT_MS), [], `no process of ${program} should be left`);
  }
}
