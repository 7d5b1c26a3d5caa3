// The app is killed while a model answers: what was said is there at the next start, marked as cut.
import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";

import { keyless, keylessPage } from "./canary.mjs";
import { say } from "./models.mjs";
import { kill, over, processes } from "./processes.mjs";

/** What is said is written down at least this often; see the history's own bound, and some for a machine that is busy. */
const WRITTEN_MS = 1000;
const ENDED_MS = 15_000;
const ANSWER = "main article[aria-label^='Answer of']";

/** Where it was killed, and how much could be read a moment before. */
let left;

export async function killedWhileAnswering(page, place, step) {
  await step("14 killed while a model answers", async () => {
    const conversation = await say(page, "Please write a long answer.");
    await page.reads("word word word", ANSWER);
    const length = (await page.text(ANSWER)).length;
    await wait(WRITTEN_MS);
    assert.ok((await page.text(ANSWER)).length > length, "it still answers");
    await page.picture("answering");
    left = { conversation, length };
    const pids = processes(place.home, place.app).map(({ pid }) => pid);
    assert.equal(pids.length, 1, "the app is one process");
    kill(pids[0]);
    assert.ok(await over(pids[0], ENDED_MS), "the app is gone");
  });
}

export async function cut(page, place, step) {
  await step("14 after the next start the answer is there, marked as cut, and can be had again", async () => {
    await page.sees("button", "New conversation", "nav");
    await page.go(`#/conversation/${left.conversation}`);
    await page.reads("The answer broke off.", ANSWER);
    assert.ok((await page.text(ANSWER)).length >= left.length, "all that was read a moment before is kept");
    assert.equal(await page.run((answer) => document.querySelector(answer).ariaBusy, ANSWER), "false", "nothing answers");
    await page.picture("cut");
    const before = (await place.provider.asked()).length;
    await page.click("button", "Answer again", ANSWER);
    await page.until("the model to be asked", async () => (await place.provider.asked()).length === before + 1);
    await page.click("button", "Stop", "[data-testid=composer]");
    await page.reads("You stopped it.", ANSWER);
    await keylessPage(page);
    keyless(place.home);
  });
}
