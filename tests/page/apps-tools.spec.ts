// Tools that a shown app provides to the model of its conversation (MCP Apps): turned on by the user, called after
// consent, and gone with the app.
import type { Page } from "@playwright/test";

import { appFrame, approveApp, pageWith, scriptedApp } from "./apps";
import { allow, axeViolations, callTool, consentRequest, expect, test as base, visit } from "./fixtures";
import { StreamingProvider } from "./streaming-provider";

const TOOL = "show";
/** Page of an app with one tool, which shows the parameters of each call. */
const PAGE = pageWith(
  "Board",
  `const tools = [{ name: "move", description: "Moves a card", inputSchema: { type: "object" } }];
  addEventListener("message", ({ source, data }) => {
    if (source !== parent) return;
    if (data.method === "tools/list") post({ id: data.id, result: { tools } });
    if (data.method !== "tools/call") return;
    show(JSON.stringify(data.params));
    post({ id: data.id, result: { content: [{ type: "text", text: "The card was moved." }] } });
  });`,
).replace("appCapabilities: {}", "appCapabilities: { tools: {} }");

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

/** Sends a message, and waits for the model to write a call. Then lets it finish. */
async function askForCall(app: Page, provider: StreamingProvider, text: string): Promise<void> {
  await send(app, text);
  await expect(app.getByText("Preparing a call:"), "the model should be writing the call").toBeVisible();
  provider.proceed();
}

async function send(app: Page, text: string): Promise<void> {
  await app.getByRole("textbox", { name: "Message" }).fill(text);
  await app.getByRole("button", { name: "Send", exact: true }).click();
}

/** Selects an action in the menu of the shown app. */
async function select(app: Page, action: string): Promise<void> {
  await app.getByRole("button", { name: "Actions for the app of harbour" }).click();
  await app.getByRole("menuitem", { name: action }).click();
}

const appTool = (provider: StreamingProvider) => provider.tools.find((name) => name.startsWith("app_move_"));

// [apps-draft-tools-attribution] [apps-draft-tools-approval] [apps-draft-tools-lifecycle]
test("a model calls a tool of an app after the user turned it on and approved the call", async ({ app, host, provider }) => {
  await callTool(app, TOOL);
  await allow(app, "Allow once");
  await expect(app.getByTestId("tool-result")).toHaveAttribute("data-state", "done");
  await approveApp(app);
  await expect(appFrame(app, TOOL).getByRole("heading", { name: "Board" })).toBeVisible();

  const { id } = await host.call<{ id: string }>("create_conversation", { title: "Board" });
  const settings = {
    model: { provider: "paced", model: "paced" },
    servers: [{ server: "harbour", tools: null, instructions: null }],
    ...{ systemPrompt: "", shareRoots: false, thinking: false },
  };
  await host.call("set_conversation", { conversation: id, settings });
  await visit(app, `#/conversation/${id}`);
  provider.text = "That is the board.";
  provider.call = { name: `harbour__${TOOL}`, beginning: "{", rest: "}" };
  await askForCall(app, provider, "Show the board");
  await allow(app, "Allow once");
  await expect(app.getByText("That is the board.")).toBeVisible();
  await expect(appFrame(app, TOOL).getByRole("heading", { name: "Board" })).toBeVisible();
  expect(appTool(provider), "the tools of an app should be off").toBeUndefined();

  await select(app, "Let the model use this app's tools…");
  const dialog = app.getByRole("dialog", { name: "Tools of the app of harbour" });
  await expect(dialog).toContainText("Moves a card");
  expect(await axeViolations(app)).toEqual([]);
  await dialog.getByRole("button", { name: "Let the model use them" }).click();
  await expect(app.getByText("The model may use its tools")).toBeVisible();

  provider.text = "I have a look.";
  await send(app, "What can you do?");
  await expect(app.getByText("I have a look.")).toBeVisible();
  const name = appTool(provider);
  expect(name, "the model should get the tool").toBeDefined();

  provider.text = "Done.";
  provider.call = { name: name ?? "", beginning: '{"card":', rest: '"7"}' };
  await askForCall(app, provider, "Move card 7");
  await expect(consentRequest(app)).toContainText("Run move of the app of show on harbour?");
  await expect(consentRequest(app)).toContainText("Sends to the app of show on harbour:");
  const outcome = appFrame(app, TOOL).locator("#outcome");
  await expect(outcome, "the app should receive nothing before the decision").toBeEmpty();
  await allow(app, "Allow once");
  await expect(outcome).toHaveText('{"name":"move","arguments":{"card":"7"}}');
  await expect(app.getByText("Done.", { exact: true })).toBeVisible();

  await select(app, "Close the app");
  await expect(app.locator("iframe")).toHaveCount(0);
  provider.text = "It is gone.";
  await send(app, "And now?");
  await expect(app.getByText("It is gone.")).toBeVisible();
  expect(appTool(provider), "the tools should end with the app").toBeUndefined();
});
