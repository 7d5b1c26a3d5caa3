// App of a call that a model is still writing (MCP Apps): it receives the arguments so far if no call of the tool needs
// consent, and nothing before the decision otherwise.
import type { Page } from "@playwright/test";

import { appFrame, approveApp, pageWith, scriptedApp } from "./apps";
import { allow, callTool, consentRequest, type DevHost, expect, test as base, visit } from "./fixtures";
import { StreamingProvider } from "./streaming-provider";

const TOOL = "show";
/** Page that lists the messages about its call, each with the part of the method after `ui/notifications/`. */
const PAGE = pageWith(
  "Messages",
  `const messages = document.body.appendChild(document.createElement("ol"));
  addEventListener("message", ({ source, data }) => {
    const name = String(data.method).slice("ui/notifications/".length);
    if (source !== parent || !name.startsWith("tool-")) return;
    messages.appendChild(document.createElement("li")).textContent = name + " " + JSON.stringify(data.params);
  });`,
);
const BEGINNING = '{"title":"Har';
const REST = 'bour"}';

const test = base.extend<{ provider: StreamingProvider }>({
  setup: scriptedApp(PAGE),
  provider: async ({ host }, use) => {
    const provider = await StreamingProvider.start();
    const settings = { name: "Paced", kind: "openai", url: provider.url };
    await host.call("set_provider", { id: "paced", conversions: [], ...settings });
    await use(provider);
    await provider.stop();
  },
});

/** Calls the tool as the user with this approval, and approves its app. */
async function approveToolAndApp(app: Page, approval: string): Promise<void> {
  await callTool(app, TOOL);
  await allow(app, approval);
  await expect(app.getByTestId("tool-result")).toHaveAttribute("data-state", "done");
  await approveApp(app);
  await expect(appFrame(app, TOOL).getByRole("heading", { name: "Messages" })).toBeVisible();
}

/** Opens a conversation whose model begins to write a call of the tool. */
async function beginCall(app: Page, host: DevHost, provider: StreamingProvider): Promise<void> {
  const { id } = await host.call<{ id: string }>("create_conversation", { title: "Board" });
  const settings = {
    model: { provider: "paced", model: "paced" },
    servers: [{ server: "harbour", tools: null, instructions: null }],
    ...{ systemPrompt: "", shareRoots: false, thinking: false },
  };
  await host.call("set_conversation", { conversation: id, settings });
  await visit(app, `#/conversation/${id}`);
  provider.text = "That is the board.";
  provider.call = { name: `harbour__${TOOL}`, beginning: BEGINNING, rest: REST };
  await app.getByRole("textbox", { name: "Message" }).fill("Show the board");
  await app.getByRole("button", { name: "Send", exact: true }).click();
  await expect(app.getByText("Preparing a call:"), "the model should be writing the call").toBeVisible();
}

/** Returns the number of requests with this method that the server has received. */
async function received(host: DevHost, method: string): Promise<number> {
  const { entries } = await host.activity("harbour");
  return entries.filter((entry) => entry.sent && entry.method === method).length;
}

const messages = (app: Page) => appFrame(app, TOOL).getByRole("listitem");

// [apps-tool-input-partial] [apps-tool-input-partial-stop] [apps-tool-input-once]
test("an app shows the arguments of an allowed call while the model writes them", async ({ app, host, provider }) => {
  await approveToolAndApp(app, "Allow until Drawbridge closes");
  const calls = await received(host, "tools/call");
  await beginCall(app, host, provider);
  await expect(messages(app)).toHaveText(['tool-input-partial {"arguments":{"title":"Har"}}']);
  expect(await received(host, "tools/call"), "the incomplete call should not be sent").toBe(calls);

  provider.proceed();
  await expect(messages(app).last()).toContainText("tool-result");
  const seen = (await messages(app).allTextContents()).filter((text) => !text.startsWith("tool-input-partial"));
  expect(seen.length, "the input should be sent once, before the result").toBe(2);
  expect(seen[0]).toBe('tool-input {"arguments":{"title":"Harbour"}}');
  expect(seen[1]).toContain("This is the text of the result.");
  const kinds = (await messages(app).allTextContents()).map((text) => text.split(" ")[0]);
  expect(kinds.slice(-2), "no partial input should follow the complete one").toEqual(["tool-input", "tool-result"]);
  await expect(app.getByText("That is the board.")).toBeVisible();
  await expect(app.locator("iframe"), "the app should be shown once").toHaveCount(1);
});

// [apps-tool-cancelled]
test("an app is notified if the user stops the model", async ({ app, host, provider }) => {
  await approveToolAndApp(app, "Allow until Drawbridge closes");
  await beginCall(app, host, provider);
  await expect(messages(app)).toHaveCount(1);
  await app.getByRole("button", { name: "Stop", exact: true }).click();
  await expect(messages(app).last()).toHaveText('tool-cancelled {"reason":"the call was not made"}');
});

test("nothing reaches server or app before the decision if the call needs consent", async ({ app, host, provider }) => {
  await approveToolAndApp(app, "Allow once");
  const before = [await received(host, "resources/read"), await received(host, "tools/call")];
  await beginCall(app, host, provider);
  provider.proceed();
  await expect(consentRequest(app)).toContainText("Run show on harbour?");
  await expect(app.locator("iframe"), "the app should not be shown before the decision").toHaveCount(0);
  const after = [await received(host, "resources/read"), await received(host, "tools/call")];
  expect(after, "the server should not learn of the call").toEqual(before);

  await allow(app, "Allow once");
  await expect(messages(app).last()).toContainText("tool-result");
  await expect(messages(app).first(), "the app should receive the complete input only").toHaveText(
    'tool-input {"arguments":{"title":"Harbour"}}',
  );
});
