// What a real server asks of a model: turned on, reviewed, answered by the model, changed, sent.
import assert from "node:assert/strict";

import { callTool } from "./calls.mjs";
import { keylessPage } from "./canary.mjs";
import { KEY } from "./provider.mjs";

const QUESTION = "[data-testid=question]";
const RESULT = "[data-testid=tool-result]";
const TOOL = "trigger-sampling-request";
const SYSTEM = "You are a helpful test server.";

export async function sampled(page, place, step) {
  const asked = async () => (await place.provider.asked()).map((body) => JSON.stringify(body));
  const ofServer = async () => (await asked()).filter((body) => body.includes(SYSTEM));

  await step("13 a server may ask models once it is turned on and told", async () => {
    await page.go("#/server/everything/permissions");
    await page.click("checkbox", "Let this server use your models");
    await page.reads("The change takes effect when the server restarts.", "main");
    await page.picture("sampling-settings");
    await page.click("button", "Restart now", "main");
    await page.go(`#/server/everything/tools/${TOOL}`);
    await page.reads(TOOL, "main article");
    // It announces its last tools one by one after the start; what is drawn moves with each.
    await page.reads("simulate-research-query", "main");
  });

  await step("13 its request is reviewed, a model answers, the answer is changed and sent", async () => {
    await callTool(page, "everything", TOOL, { prompt: "say hello" });
    await page.allow("Allow once");
    await page.asks("requests an answer from a model");
    for (const part of [SYSTEM, "say hello", "100 tokens", "Your default model."]) await page.asks(part);
    assert.deepEqual(await ofServer(), [], "[sampling-human-in-loop]: nothing went to the model yet");
    await page.picture("sampling-of-server");
    await page.allow("Ask gpt-4o");
    await page.asks("Hello! Grüße, 你好 and 👋 from the model.");
    await page.asks("Sends to everything as the model's answer:");
    await page.picture("sampling-answered");
    const bodies = await ofServer();
    assert.equal(bodies.length, 1, "the model was asked once");
    assert.ok(bodies[0].includes("say hello"), "for what was shown");
    assert.ok(!bodies[0].includes('"tools"'), "and was given no tools");
    await page.click("button", "Edit the answer", QUESTION);
    await page.fill("Your answer", "Hello, harbour.", "textbox", QUESTION);
    await page.picture("sampling-edited");
    await page.click("button", "Review the answer", QUESTION);
    await page.asks("Hello, harbour.");
    await page.allow("Send the answer");
    await page.reads("Hello, harbour.", RESULT);
    assert.ok(
      !(await page.text(RESULT)).includes("from the model"),
      "[sampling-review-result]: it got what was reviewed, and nothing else",
    );
    await page.scrollTo(RESULT);
    await page.picture("sampling-sent");
    await page.go("#/server/everything/permissions");
    await page.reads("1 used", "main");
    await page.scrollTo("main table:has(input)");
    await page.picture("sampling-used");
    await page.go("#/audit");
    for (const kind of ["Request to the model", "Model's answer"]) await page.reads(kind, "main");
    await keylessPage(page);
    assert.ok((await asked()).every((body) => !body.includes(KEY)), "the key is in nothing that a model reads");
  });
}
