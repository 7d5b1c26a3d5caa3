// New users, each with a home of their own: from the first start to the first approved call, and ten servers moved in from another app. What
// they click is counted, and how long the app takes; how long people read is not.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { closeWindow } from "./close-window.mjs";
import { noneLeft } from "./processes.mjs";

const QUESTION = "[data-testid=question]";
const RESULT = "[data-testid=tool-result]";
/** To the first approved call, at most. */
const FIRST_CALL_CLICKS = 4;
/** Until ten imported servers are ready, at most. */
const TEN_READY_MS = 120_000;

/** Closing ends the servers, and then the app, within this time. */
const ENDS_MS = 20_000;

const seconds = (begun) => ((Date.now() - begun) / 1000).toFixed(1);

/** Allows what is asked after scrolling through it, by the first button that does. */
async function scrollAndAllow(page, name) {
  await page.until("what is asked to be seen whole", async () => {
    if (await page.isArmed()) return true;
    await page.wheel(`${QUESTION} section`);
    return false;
  });
  await page.goAndClick("button", name, QUESTION);
}

export async function firstCall(page, _place, step) {
  await step("a new user: from the first start to the first approved call in four clicks", async () => {
    const begun = Date.now();
    await page.click("button", "Start the demo server");
    await scrollAndAllow(page, "Always allow this command");
    await page.click("button", "Call", "main");
    await page.asks("Run add on demo?");
    await scrollAndAllow(page, "Allow once");
    await page.reads("2 + 3 = 5", RESULT);
    console.log(`        ${page.clicks} clicks; the app took ${seconds(begun)} s`);
    assert.ok(page.clicks <= FIRST_CALL_CLICKS, `${page.clicks} clicks`);
  });
}

/** Ten servers as another app has them: real ones, each with files of its own. */
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

export async function tenImported(page, place, step) {
  const servers = ten(place);
  await step("a new user: ten servers of another app are imported, approved one by one, and ready", async () => {
    const count = Object.keys(servers).length;
    const file = join(place.home, ".cursor/mcp.json");
    mkdirSync(join(place.home, ".cursor"));
    writeFileSync(file, JSON.stringify({ mcpServers: servers }));
    const own = async () => (await page.invoke("snapshot", {})).value.servers.filter(({ name }) => name !== "demo");
    const begun = Date.now();
    await page.click("button", "Search for servers");
    await page.reads(`Found ${count} servers`, "main");
    await page.picture("ten-found");
    await page.click("button", `Import ${count} servers`, "main");
    await page.reads(`${count} servers imported`, "main");
    assert.deepEqual((await own()).map(({ state }) => state.is), Array(count).fill("stopped"), "nothing was started");
    await page.click("button", `Start ${count} servers`, "main");
    const commands = new Set();
    let ready = 0;
    while (ready < count) {
      const question = await page.question();
      if (question.includes("wants to run on this computer")) {
        if (commands.size === 0) await page.picture("ten-asked");
        commands.add(question);
        await page.allow("Always allow this command");
      }
      // E7: what those that run ask on their own does not come in front.
      assert.ok(!question.includes("asks for your folders"), "no folders are asked for in front");
      ready = (await own()).filter(({ state }) => state.is === "ready").length;
      assert.ok(Date.now() - begun < TEN_READY_MS, `${ready} of ${count} are ready in time`);
    }
    assert.equal(commands.size, count, "each command was shown and approved");
    console.log(`        ${page.clicks} clicks; ten servers are ready after ${seconds(begun)} s`);
    await page.picture("ten-ready");
  });

  await step("a new user: an imported server is called", async () => {
    const called = "#/server/files-1/tools/list_allowed_directories";
    // E7: the folders that servers asked for wait in the list.
    const waiting = (await page.invoke("snapshot", {})).value.questions;
    assert.ok(waiting.length > 0 && waiting.every(({ body }) => body.kind === "roots"), "only folders wait");
    assert.equal(await page.question(), "", "and none of them in front");
    await page.go(called);
    await page.click("button", "Call", "main");
    await page.allow("Allow once");
    await page.reads(join(place.home, "files-1"), RESULT);
  });
}

/** Ends the app with its servers, so that the next user can start it. */
export async function leave(page, place) {
  const { value } = await page.invoke("snapshot", {});
  await page.invoke("set_settings", { ...value.settings, onClose: "quit" });
  await closeWindow("Drawbridge");
  for (const program of [place.demo, "/dist/index.js", place.app]) {
    assert.deepEqual(await noneLeft(place.home, program, ENDS_MS), [], `no ${program} runs on`);
  }
}
