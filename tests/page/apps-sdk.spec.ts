// App on the class `App` of the official SDK: each message that the class sends is answered, and the messages of app
// and host, with their order, are those of a plain page on the SDK's own host, `AppBridge`.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { FrameLocator, Page } from "@playwright/test";

import { appFrame, approveApp } from "./apps";
import { comparable, PlainHost, recordPrinted, sdkApp } from "./apps-sdk";
import { allow, callTool, consentRequest, type DevHost, expect, test as base, visit } from "./fixtures";
import { StreamingProvider } from "./streaming-provider";

const TOOL = "show_tides";

/** Use of a button of the app. */
interface Step {
  button: string;
  /** Text in the app once its message is answered. */
  outcome: RegExp;
  /** Decides in Drawbridge on the request of the app. */
  decide?: (app: Page, host: DevHost) => Promise<void>;
  /** Checks what Drawbridge did. */
  check?: (app: Page, host: DevHost) => Promise<void>;
}

const STEPS: Step[] = [
  {
    button: "Call a tool",
    outcome: /"sum":5/,
    decide: async (app) => {
      await expect(consentRequest(app)).toContainText("Run add on harbour?");
      await allow(app, "Allow once");
    },
  },
  { button: "Call a failing tool", outcome: /"isError":true/, decide: (app) => allow(app, "Allow once") },
  { button: "List resources", outcome: /harbour:\/\/\/notice\.txt/ },
  { button: "Read a resource", outcome: /The bridge opens at nine\./ },
  { button: "Read a missing resource", outcome: /^error -32\d{3}: /, decide: (app) => allow(app, "Allow once") },
  {
    button: "Send a message",
    outcome: /^\{\}$/,
    check: async (app) => {
      const composer = app.getByRole("textbox", { name: "Message" });
      await expect(composer, "the message should become a draft").toHaveValue(/When is the next high water\?/);
    },
  },
  {
    button: "Update the context",
    outcome: /^\{\}$/,
    check: (app) => expect(app.getByText(`Context from the app of ${TOOL}`).first()).toBeVisible(),
  },
  {
    button: "Open a link",
    outcome: /^\{\}$/,
    decide: async (app) => {
      await app.mouse.move(1, 1);
      const dialog = app.getByRole("dialog", { name: "Open this link?" });
      await dialog.getByRole("button", { name: "Open in the browser" }).click();
    },
    check: (_app, host) => expect.poll(() => host.opened()).toEqual(["https://example.com/tides"]),
  },
  {
    button: "Save a file",
    outcome: /^\{\}$/,
    decide: async (app, host) => {
      host.setDialogAnswer("save-file", join(host.folder, "saved.txt"));
      const files = app.getByRole("region", { name: "Files of the app" });
      await files.getByRole("button", { name: /^Save .*tides\.txt/ }).click();
    },
    check: async (_app, host) =>
      expect(readFileSync(join(host.folder, "saved.txt"), "utf8")).toBe("high water 06:12"),
  },
  {
    button: "Change the height",
    outcome: /^"sent"$/,
    check: async (app) => {
      const height = async () => (await app.locator("iframe").boundingBox())?.height;
      await expect.poll(height, "the frame should have the height of the app").toBe(320);
    },
  },
  { button: "Log", outcome: /^"sent"$/ },
  {
    button: "Ask a model",
    outcome: /"role":"assistant"/,
    decide: async (app) => {
      await expect(consentRequest(app)).toContainText(`The app of ${TOOL} on harbour requests an answer from a model`);
      await allow(app, "Ask paced");
      await expect(consentRequest(app)).toContainText(`Sends to the app of “${TOOL}” as the model's answer:`);
      await allow(app, "Send the answer");
    },
  },
  { button: "Full screen", outcome: /^\{"mode":"fullscreen"\}$/ },
  { button: "Inline", outcome: /^\{"mode":"inline"\}$/ },
  // The app does not declare this mode.
  { button: "Small window", outcome: /^\{"mode":"inline"\}$/ },
];

/** Clicks the buttons of the app in this order. `host` is set in Drawbridge, where the user decides. */
async function takeSteps(page: Page, frame: FrameLocator, host: DevHost | null): Promise<void> {
  for (const { button, outcome, decide, check } of STEPS) {
    await frame.getByRole("button", { name: button, exact: true }).click();
    if (host) await decide?.(page, host);
    await expect(frame.locator("#outcome"), button).toHaveText(outcome);
    if (host) await check?.(page, host);
  }
}

const test = base.extend<{ provider: StreamingProvider }>({
  setup: sdkApp(),
  provider: async ({ host }, use) => {
    const provider = await StreamingProvider.start();
    const settings = { name: "Paced", kind: "openai", url: provider.url };
    await host.call("set_provider", { id: "paced", conversions: [], ...settings });
    const { settings: sampling } = await host.call<{ settings: object }>("read_sampling", { server: "harbour" });
    const model = { provider: "paced", model: "paced" };
    await host.call("set_sampling", { server: "harbour", settings: { ...sampling, model } });
    await use(provider);
    await provider.stop();
  },
});

/** Approves the tool and its app, so that a model's call opens the app. */
async function approveToolAndApp(app: Page): Promise<void> {
  await callTool(app, TOOL);
  await allow(app, "Allow until Drawbridge closes");
  await expect(app.getByTestId("tool-result")).toHaveAttribute("data-state", "done");
  await approveApp(app);
  await expect(appFrame(app, TOOL).locator("#outcome")).toHaveText(/^connected to /);
  // Later messages are recorded.
  await expect(appFrame(app, TOOL).getByRole("listitem").last()).toContainText("structuredContent");
}

/** Opens a conversation in which a model calls the tool. */
async function callByModel(app: Page, host: DevHost, provider: StreamingProvider): Promise<void> {
  const { id } = await host.call<{ id: string }>("create_conversation", { title: "Tides" });
  const settings = {
    model: { provider: "paced", model: "paced" },
    servers: [{ server: "harbour", tools: null, instructions: null }],
    ...{ systemPrompt: "", shareRoots: false, thinking: false },
  };
  await host.call("set_conversation", { conversation: id, settings });
  await visit(app, `#/conversation/${id}`);
  provider.text = "Those are the tides.";
  provider.call = { name: `harbour__${TOOL}`, beginning: '{"harbour":"Ber', rest: 'gen"}' };
  await app.getByRole("textbox", { name: "Message" }).fill("Show the tides");
  await app.getByRole("button", { name: "Send", exact: true }).click();
}

// [apps-initialize] [apps-mcp-methods] [apps-message] [apps-model-context] [apps-size-changed]
// [apps-display-mode-result] [apps-display-mode-declared] [apps-teardown] [apps-teardown-wait]
// [apps-draft-request-teardown]
test("an app on the SDK gets from Drawbridge what it gets from the SDK's host, in the same order", async ({
  app,
  host,
  provider,
}) => {
  test.setTimeout(120_000);
  await approveToolAndApp(app);
  const printed = recordPrinted(app);
  await callByModel(app, host, provider);
  const frame = appFrame(app, TOOL);
  const received = frame.getByRole("listitem");
  await expect(received).toHaveText(['toolinputpartial {"arguments":{"harbour":"Ber"}}']);
  provider.proceed();
  await expect(received.last()).toContainText('"structuredContent":{"harbour":"Bergen"}');
  await expect(frame.getByText('toolinput {"arguments":{"harbour":"Bergen"}}')).toBeVisible();
  await expect(app.getByText("Those are the tides.")).toBeVisible();
  const offered = /^connected to drawbridge with .*message .*sampling .*; inline fullscreen/;
  await expect(frame.locator("#outcome")).toHaveText(offered);
  await takeSteps(app, frame, host);

  await app.getByRole("button", { name: "Actions for the app of harbour" }).click();
  await app.getByRole("menuitem", { name: "Messages" }).click();
  const inspector = app.getByRole("dialog", { name: "Messages of the app of harbour" });
  await expect(inspector.getByText("the gauge is silent").first(), "the log message should be shown").toBeVisible();
  await expect(inspector.getByText("0 problems"), "no message should have a problem").toBeVisible();
  await app.keyboard.press("Escape");
  await expect(inspector).toBeHidden();

  await frame.getByRole("button", { name: "Close", exact: true }).click();
  await expect(app.locator("iframe"), "the app should be closed at its request").toHaveCount(0);
  expect(printed.at(-2), "the app should be able to save its state before it is removed").toBe("saved");

  const plain = await PlainHost.start(host);
  try {
    const page = await app.context().newPage();
    const expected = recordPrinted(page);
    await page.goto(plain.url);
    const plainFrame = page.frameLocator("iframe");
    await expect(plainFrame.getByRole("listitem").last()).toContainText('"structuredContent":{"harbour":"Bergen"}');
    await takeSteps(page, plainFrame, null);
    await plainFrame.getByRole("button", { name: "Close", exact: true }).click();
    await expect(page.locator("iframe")).toHaveCount(0);
    expect(comparable(printed), "the messages should be those of the SDK's host").toEqual(comparable(expected));
  } finally {
    await plain.stop();
  }
});
