// Sampling request of a real server: enabled, reviewed, answered by the model, edited and sent.
import assert from "node:assert/strict";

import { callTool } from "./calls.mjs";
import { assertPageHasNoKey, KEY } from "./key-leaks.mjs";

const CONSENT_REQUEST = "[data-testid=consent-request]";
const RESULT = "[data-testid=tool-result]";
const TOOL = "trigger-sampling-request";
const SYSTEM = "You are a helpful test server.";

export async function samplingRequest(page, place, step) {
  const requestBodies = async () => (await place.provider.requestBodies()).map((body) => JSON.stringify(body));
  const serverRequestBodies = async () => (await requestBodies()).filter((body) => body.includes(SYSTEM));

  await step("13 a server may use models after sampling is enabled", async () => {
    await page.go("#/server/everything/permissions");
    await page.click("checkbox", "Let this server use your models");
    await page.waitForText("The change takes effect when the server restarts.", "main");
    await page.picture("sampling-settings");
    await page.click("button", "Restart now", "main");
    await page.go(`#/server/everything/tools/${TOOL}`);
    await page.waitForText(TOOL, "main article");
    // The server announces its last tools one by one after the start, and each moves the layout.
    await page.waitForText("simulate-research-query", "main");
  });

  await step("13 a sampling request is reviewed, and the answer of the model is edited and sent", async () => {
    await callTool(page, "everything", TOOL, { prompt: "say hello" });
    await page.allow("Allow once");
    await page.waitForConsentRequest("requests an answer from a model");
    for (const part of [SYSTEM, "say hello", "100 tokens", "Your default model."]) await page.waitForConsentRequest(part);
    assert.deepEqual(await serverRequestBodies(), [], "[sampling-human-in-loop]: the model should receive nothing before consent");
    await page.picture("sampling-of-server");
    await page.allow("Ask gpt-4o");
    await page.waitForConsentRequest("Hello! Grüße, 你好 and 👋 from the model.");
    await page.waitForConsentRequest("Sends to everything as the model's answer:");
    await page.picture("sampling-answered");
    const bodies = await serverRequestBodies();
    assert.equal(bodies.length, 1, "the model should receive one request");
    assert.ok(bodies[0].includes("say hello"), "the model should receive the request that was shown");
    assert.ok(!bodies[0].includes('"tools"'), "the model should receive no tools");
    await page.click("button", "Edit the answer", CONSENT_REQUEST);
    await page.fill("Your answer", "Hello, harbour.", "textbox", CONSENT_REQUEST);
    await page.picture("sampling-edited");
    await page.click("button", "Review the answer", CONSENT_REQUEST);
    await page.waitForConsentRequest("Hello, harbour.");
    await page.allow("Send the answer");
    await page.waitForText("Hello, harbour.", RESULT);
    assert.ok(
      !(await page.text(RESULT)).includes("from the model"),
      "[sampling-review-result]: the result should not contain the original answer",
    );
    await page.scrollTo(RESULT);
    await page.picture("sampling-sent");
    await page.go("#/server/everything/permissions");
    await page.waitForText("1 used", "main");
    await page.scrollTo("main table:has(input)");
    await page.picture("sampling-used");
    await page.go("#/audit");
    for (const kind of ["Request to the model", "Model's answer"]) await page.waitForText(kind, "main");
    await assertPageHasNoKey(page);
    assert.ok((await requestBodies()).every((body) => !body.includes(KEY)), "no request to the model should contain the key");
  });
}
