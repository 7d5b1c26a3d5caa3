// The app is killed while a model answers: what was said is there at the next start, marked as cut.
import assert from "node:assert/strict";

import { keyless, keylessPage } from "./canary.mjs";
import { say } from "./models.mjs";
import { kill, over, processes } from "./processes.mjs";

const ENDED_MS = 15_000;
const ANSWER = "main article[aria-label^='Answer of']";

/** What was typed and not sent. */
const DRAFT = "and then, by train";

/** Where it was killed, and how many words of the answer could be read a moment before. */
let left;

const count = (text) => text.split("word").length - 1;

/** How many words of the last answer of a conversation the history holds. */
async function written(page, conversation) {
  const { value } = await page.invoke("items", { conversation, before: null, limit: 1 });
  return count(JSON.stringify(value.items[0]?.body));
}

export async function killedWhileAnswering(page, place, step) {
  await step("14 killed while a model answers", async () => {
    const conversation = await say(page, "Please write a long answer.");
    await page.reads("word word word", ANSWER);
    await page.picture("answering");
    const words = count(await page.text(ANSWER));
    await page.until("what was read to be written", async () => (await written(page, conversation)) >= words);
    assert.ok(count(await page.text(ANSWER)) > words, "it still answers");
    await page.fill("Message", DRAFT);
    await page.until("the draft to be kept", async () => {
      const { value } = await page.invoke("conversation", { conversation });
      return value.draft === DRAFT;
    });
    left = { conversation, words };
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
    await page.reads("The answer is incomplete.", ANSWER);
    assert.ok(count(await page.text(ANSWER)) >= left.words, "all that was read a moment before is kept");
    assert.equal(await page.run((answer) => document.querySelector(answer).ariaBusy, ANSWER), "false", "nothing answers");
    assert.equal(await page.run(() => document.querySelector("[data-testid=composer] textarea").value), DRAFT, "the draft is there");
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
