// Kills the app while a model answers. After the next start, the partial answer is stored and marked as interrupted.
import assert from "node:assert/strict";

import { assertNoKeyInFiles, assertPageHasNoKey } from "./key-leaks.mjs";
import { startConversation } from "./models.mjs";
import { kill, waitForExit, processes } from "./processes.mjs";

const APP_END_TIMEOUT_MS = 15_000;
const ANSWER = "main article[aria-label^='Answer of']";

/** Text in the composer that was not sent before the kill. */
const UNSENT_DRAFT = "and then, by train";

/** Id of the conversation, and the number of words in its answer shortly before the kill. */
let interrupted;

const count = (text) => text.split("word").length - 1;

/** Returns the number of words that the history contains of a conversation's last answer. */
async function written(page, conversation) {
  const { value } = await page.invoke("read_conversation_items", { conversation, before: null, limit: 1 });
  return count(JSON.stringify(value.items[0]?.body));
}

export async function killWhileAnswering(page, place, step) {
  await step("14 the app is killed while a model answers", async () => {
    const conversation = await startConversation(page, "Please write a long answer.");
    await page.waitForText("word word word", ANSWER);
    await page.picture("answering");
    const words = count(await page.text(ANSWER));
    await page.until("the visible part of the answer to be stored", async () => (await written(page, conversation)) >= words);
    await page.until("the answer to grow further", async () => count(await page.text(ANSWER)) > words);
    await page.fill("Message", UNSENT_DRAFT);
    await page.until("the draft to be stored", async () => {
      const { value } = await page.invoke("read_conversation", { conversation });
      return value.draft === UNSENT_DRAFT;
    });
    interrupted = { conversation, words };
    const pids = processes(place.home, place.app).map(({ pid }) => pid);
    assert.equal(pids.length, 1, "the app should be one process");
    kill(pids[0]);
    assert.ok(await waitForExit(pids[0], APP_END_TIMEOUT_MS), "the app should have ended");
  });
}

export async function restoredAnswer(page, place, step) {
  await step("14 after the next start the answer is stored, marked as interrupted, and can be requested again", async () => {
    await page.waitForElement("button", "New conversation", "nav");
    await page.go(`#/conversation/${interrupted.conversation}`);
    await page.waitForText("The answer is incomplete.", ANSWER);
    assert.ok(
      count(await page.text(ANSWER)) >= interrupted.words,
      "the part of the answer that was shown before the kill should be restored",
    );
    assert.equal(await page.run((answer) => document.querySelector(answer).ariaBusy, ANSWER), "false", "no answer should be running");
    assert.equal(
      await page.run(() => document.querySelector("[data-testid=composer] textarea").value),
      UNSENT_DRAFT,
      "the draft should be restored",
    );
    await page.picture("cut");
    const requestsBefore = (await place.provider.requestBodies()).length;
    await page.click("button", "Answer again", ANSWER);
    await page.until("the model to receive a request", async () => (await place.provider.requestBodies()).length === requestsBefore + 1);
    await page.click("button", "Stop", "[data-testid=composer]");
    await page.waitForText("You stopped the answer.", ANSWER);
    await assertPageHasNoKey(page);
    assertNoKeyInFiles(place.home);
  });
}
