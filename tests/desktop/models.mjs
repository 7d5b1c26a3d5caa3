// Conversation with a model: a provider with its key, tools of a real server, a call with arguments changed before
// approval, and the answer.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { assertNoKeyInFiles, assertPageHasNoKey, KEY } from "./key-leaks.mjs";

const CONSENT_REQUEST = "[data-testid=consent-request]";
const QUEUE = "[data-testid=queue]";
const DIALOG = "[role=dialog], [role=alertdialog]";
const COMPOSER = "[data-testid=composer]";

/** Creates a conversation and sends a message in it. Resolves to the id of the conversation. */
export async function startConversation(page, text) {
  await page.click("button", "New conversation", "nav");
  await page.until("an empty conversation", () => page.run(() => location.hash.startsWith("#/conversation/")));
  await page.waitForText("Start here", "main");
  const id = await page.run(() => location.hash.split("/")[2]);
  await sendMessage(page, text);
  return id;
}

export async function sendMessage(page, text) {
  await page.fill("Message", text);
  await page.click("button", "Send", COMPOSER);
}

export async function models(page, place, step) {
  const { provider } = place;

  await step("12 a provider is added with its key, and answers", async () => {
    await page.go("#/models");
    await page.waitForText("No providers yet", "main");
    await page.click("button", "Add a provider");
    await page.choose("Provider", "Other (by address)", DIALOG);
    await page.fill("Name", "Fake lab", "textbox", DIALOG);
    await page.fill("Address", `${provider.url}/v1`, "textbox", DIALOG);
    await page.fill("Key, if required", KEY, "textbox", DIALOG);
    await page.picture("add-provider");
    await page.click("button", "Add", DIALOG);
    await page.waitForText(/It responded with \d+ models/, "main");
    await page.waitForText("Key set", "main");
    await page.click("button", "Test Fake lab");
    await page.waitForText(/It responded with \d+ models/, "main");
    await page.click("disclosure", /^\d+ models$/);
    await page.click("button", "Use gpt-4o by default");
    await page.waitForText("Default model: gpt-4o of Fake lab.", "main");
    await page.picture("models");
    const secrets = join(place.data, "secrets.json");
    assert.ok(existsSync(secrets), "the encrypted key should be stored, because a keychain is available");
    assert.match(readFileSync(join(place.data, "models.json"), "utf8"), /Fake lab/, "the provider should be stored");
    assertNoKeyInFiles(place.home);
    await assertPageHasNoKey(page);
  });

  await step("12 a real server is added and started, and its tools are reviewed", async () => {
    await page.go("#/add-server");
    await page.click("tab", "Paste");
    const config = { command: process.execPath, args: [place.everything] };
    const text = JSON.stringify({ mcpServers: { everything: config } });
    await page.fill("URL, command, or the configuration from the server's README", text);
    await page.click("button", "Add 1 server");
    await page.waitForElement("heading", "everything");
    await page.click("button", "Start", "main");
    await page.waitForConsentRequest(place.everything);
    await page.allow("Always allow this command");
    await page.waitForText("ready", "main header");
    // E7: a request of a server outside of a call is not shown by itself. The list is shown if there are other requests.
    await page.click("button", /^Approvals \(/);
    await page.until("the request for folders to be shown", async () => {
      if (await page.has("button", /^asks for your folders/, QUEUE)) await page.click("button", /^asks for your folders/, QUEUE);
      return (await page.consentRequestText()).includes("everything asks for your folders");
    });
    await page.allow("Share none");
    await page.go("#/server/everything/tools");
    await page.click("button", /^Review \d+ new tools/);
    await page.click("button", /^Mark \d+ tools as reviewed/, DIALOG);
    await page.until("the tools to be reviewed", async () => !(await page.has("button", /^Review \d+ new tools/)));
  });

  await step("12 a model calls a tool, the user changes the arguments, and the model answers with the result", async () => {
    await page.click("button", "New conversation", "nav");
    await page.waitForText("Start here", "main");
    // E4: the conversation starts with the servers of the previous one.
    await page.click("button", /^Tools of demo\b.*, legacy\b.*, modern\b.*, family\b/, COMPOSER);
    for (const name of ["demo", "legacy", "modern", "family", "everything"]) await page.click("checkbox", name, DIALOG);
    await page.waitForText(/\d+ tools offered/, DIALOG);
    await page.picture("tools-of-conversation");
    await page.click("button", "Close", DIALOG);
    await page.waitForElement("button", "Tools of everything", COMPOSER);
    await sendMessage(page, "Please add 2 and 40.");
    await page.waitForConsentRequest("Run get-sum on everything?");
    await page.waitForConsentRequest("The model asked");
    await page.waitForConsentRequest(/b\s+(number\s+)?40/);
    await page.picture("consent-request-of-model");
    await page.click("button", "Edit the arguments", CONSENT_REQUEST);
    await page.fill(/^b\b/, "42", "textbox", CONSENT_REQUEST);
    await page.picture("consent-request-edited");
    await page.click("button", "Use these changes", CONSENT_REQUEST);
    await page.waitForConsentRequest(/b\s+edited\s*number\s+42\s+Requested:\s+40/);
    await page.allow("Allow once");
    await page.waitForText("it is 44, as you changed a number", "main");
    await page.picture("answer");
    await page.click("button", /get-sum.*done/, "main");
    await page.waitForText("The sum of 2 and 42 is 44.", "main");
    await page.picture("call");
    await assertPageHasNoKey(page);

    const requests = await provider.requestBodies();
    const last = requests.at(-1);
    assert.equal(last.model, "gpt-4o", "the request should be for the selected model");
    const offered = last.tools.map((tool) => tool.function.name);
    assert.ok(offered.includes("everything__get-sum"), "the tools of the server should be offered");
    assert.ok(offered.every((name) => name.startsWith("everything__")), "no tools of other servers should be offered");
    const results = last.messages.filter(({ role }) => role === "tool");
    assert.equal(results.length, 1, "the model should receive one result");
    assert.ok(JSON.stringify(results).includes("The sum of 2 and 42 is 44."), "the model should receive the result of the changed call");
    assert.ok(!JSON.stringify(requests).includes(KEY), "no request to the model should contain the key");
  });
}
