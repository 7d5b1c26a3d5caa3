// Conversation with an independent mock provider (aimock): tools that are called and decided inline, files, stopping,
// repeated answers, versions.
import type { Locator, Page } from "@playwright/test";

import { Provider } from "../provider.cjs";
import {
  allow,
  axeViolations,
  expect,
  consentRequest,
  readRest,
  waitUntilDeniable,
  test as base,
  visit,
  type DevHost,
} from "./fixtures";

const KEY = "sk-canary-chat-55bb02";
/** Picture of a red square of sixteen pixels, as PNG in base64. */
const SQUARE =
  "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mM4IadBEmIY1TCqYfhqAAArUg4Q8CzRtwAAAABJRU5ErkJggg==";

const test = base.extend<{ provider: Provider; conversation: string }>({
  provider: [
    async ({ host }, use) => {
      const provider = await Provider.start(KEY);
      await provider.setUpIn(host);
      await use(provider);
      await provider.stop();
    },
    { auto: true },
  ],
  // With the model and the tools of the demo server enabled, one of which the user has reviewed.
  conversation: [
    async ({ host, app }, use) => {
      await reviewTool(host);
      const { id } = await host.call<{ id: string }>("create_conversation", {
        title: "Sums",
      });
      const settings = {
        model: { provider: "fake", model: "gpt-5.2" },
        servers: [{ server: "harbour", tools: null, instructions: null }],
        ...{ systemPrompt: "", shareRoots: false, thinking: false },
      };
      await host.call("set_conversation", { conversation: id, settings });
      await visit(app, `#/conversation/${id}`);
      await expect(app.getByTestId("composer")).toBeVisible();
      await use(id);
    },
    { auto: true },
  ],
});

/** Calls the tool `add` once with the user's approval, which marks its definition as reviewed. */
async function reviewTool(host: DevHost): Promise<void> {
  const called = host.call("call_tool", {
    ...{
      call: "seen",
      server: "harbour",
      tool: "add",
      arguments: { a: 1, b: 2 },
    },
  });
  await host.answerNext("tool", { action: "allow", scope: "once" });
  await called;
}

async function sendMessage(app: Page, text: string): Promise<void> {
  await app.getByRole("textbox", { name: "Message" }).fill(text);
  await app.getByRole("button", { name: "Send", exact: true }).click();
}

const log = (app: Page): Locator => app.getByRole("log");

async function assertAccessible(app: Page, what: string): Promise<void> {
  expect(await axeViolations(app), `axe should find no violations: ${what}`).toEqual([]);
}

/** Returns the last request that the provider received, as JSON text. */
async function lastRequest(provider: Provider): Promise<string> {
  const requests = await provider.requestBodies();
  return JSON.stringify(requests.at(-1)?.messages ?? []);
}

test("X09: a call of the model is decided in its card with changed arguments, and the answer follows", async ({
  app,
  provider,
}) => {
  await sendMessage(app, "please add at the harbour");
  const frame = log(app).getByTestId("consent-request");
  await expect(frame, "the conversation should show the consent request").toContainText(
    "Run add on harbour?",
  );
  await expect(frame, "E8: the request should name who asked").toContainText("The model asked");
  await expect(app.getByRole("dialog"), "no dialog should cover the conversation").toHaveCount(0);
  await app.keyboard.press("F6");
  await expect(
    frame.getByRole("button", { name: "Deny", exact: true }),
    "F6 should focus Deny",
  ).toBeFocused();
  await expect(
    app.getByRole("button", { name: /Approvals \(1\)/ }),
    "the queue should count the request",
  ).toBeVisible();
  await assertAccessible(app, "a consent request in its card");
  await frame.getByRole("button", { name: "Edit the arguments" }).click();
  const first = frame.getByRole("textbox", { name: /First number/ });
  await expect(first, "the first field should be focused").toBeFocused();
  await expect(first).toBeInViewport({ ratio: 1 });
  await first.fill("4");
  await frame.getByRole("button", { name: "Use these changes" }).click();
  await expect(frame).toContainText("4");
  await allow(app, "Allow once");
  await expect(
    log(app).getByText("The harbour says 44."),
    "the model should continue with the result",
  ).toBeVisible();
  expect(await lastRequest(provider), "the model should be notified of the changed arguments").toContain(
    "The user changed the arguments",
  );
  const card = log(app).getByRole("article", { name: "add: done" });
  await card.getByRole("button", { expanded: false }).first().click();
  await expect(card, "the card should show the arguments of the model").toContainText(
    "You changed this. The model requested:",
  );
  await expect(card, "the card should show the result").toContainText("4 + 40 = 44");
  await expect(
    app.getByRole("textbox", { name: "Message" }),
    "the message field should be visible again",
  ).toBeVisible();
  await assertAccessible(app, "a completed call");
  expect(await app.content(), "the page should not contain the key").not.toContain(KEY);
});

test("X09: a denial with a reason is sent to the model", async ({
  app,
  provider,
}) => {
  await sendMessage(app, "please add at the harbour");
  const frame = consentRequest(app);
  await expect(frame).toBeVisible();
  await frame.getByRole("button", { name: "Deny with a reason…" }).click();
  await frame
    .getByRole("textbox", { name: "Reason" })
    .fill("These are the wrong numbers");
  await assertAccessible(app, "a reason for a denial");
  await frame.getByRole("button", { name: "Deny and send the reason" }).click();
  await expect(
    log(app).getByText("Then I leave it."),
    "the model should answer after the denial",
  ).toBeVisible();
  expect(await lastRequest(provider), "the request to the model should contain the reason").toContain(
    "These are the wrong numbers",
  );
  const card = log(app).getByRole("article", { name: "add: denied" });
  await card.getByRole("button", { expanded: false }).first().click();
  await expect(card, "the card should show the reason").toContainText(
    "These are the wrong numbers",
  );
});

test("a sentence that is typed after Enter goes to the message field, and changes no request", async ({
  app,
  host,
}) => {
  const field = app.getByRole("textbox", { name: "Message" });
  await field.fill("please add at the harbour");
  await app.keyboard.press("Enter");
  const frame = log(app).getByTestId("consent-request");
  await expect(frame).toContainText("Run add on harbour?");
  await waitUntilDeniable(app);
  await app.keyboard.type("fix a day and add four");
  await expect(field, "no key should be lost").toHaveValue("fix a day and add four");
  expect((await host.snapshot()).consentRequests, "the request should still be pending").toHaveLength(1);
});

test.describe("in a low window", () => {
  test.use({ viewport: { width: 800, height: 600 } });

  test("in a low window a request waits while the next message is typed, and no letter decides it", async ({ app, host }) => {
    await app.clock.install();
    const field = app.getByRole("textbox", { name: "Message" });
    await field.fill("please add at the harbour");
    await app.keyboard.press("Enter");
    await app.keyboard.type("and then ");
    const held = app.getByTestId("held-request");
    await expect(held).toContainText("harbour waits for your approval");
    await app.clock.fastForward(5_000);
    await app.keyboard.type("add a day");
    await expect(field, "no key should be lost").toHaveValue("and then add a day");
    await expect(consentRequest(app), "no dialog should open").toBeHidden();
    expect((await host.snapshot()).consentRequests, "the request should still be pending").toHaveLength(1);
    await held.getByRole("button", { name: "Show" }).click();
    await expect(consentRequest(app)).toContainText("Run add on harbour?");
    await expect(held).toBeHidden();
    await waitUntilDeniable(app);
    await app.keyboard.press("d");
    await expect(consentRequest(app), "a request that the user opened should be decided by keys").toBeHidden();
    await expect(field, "the draft should be kept").toHaveValue("and then add a day");
  });
});

test("two calls of one answer are decided one after the other, by keyboard alone", async ({
  app,
}) => {
  await app
    .getByRole("textbox", { name: "Message" })
    .fill("please add twice at the harbour");
  await app.keyboard.press("Enter");
  await app.getByRole("button", { name: /^Review call 1:/ }).focus();
  await app.keyboard.press("Enter");
  const frame = log(app).getByTestId("consent-request");
  await expect(frame, "one request should be shown").toHaveCount(1);
  await expect(frame).toContainText("1 of 2");
  await waitUntilDeniable(app);
  await app.keyboard.press("d");
  await expect(frame, "the next request should be shown").toContainText("Sends to harbour:");
  await expect(frame).not.toContainText("of 2");
  const button = frame.getByRole("button", { name: "Allow once" });
  await expect(button, "Allow should be enabled once the request could be read").toHaveAttribute(
    "aria-disabled",
    "false",
  );
  await app.keyboard.press("F6");
  await app.keyboard.press("a");
  await expect(log(app).getByText("Both are done.")).toBeVisible();
  await expect(
    log(app).getByRole("article", { name: "add: denied" }),
  ).toHaveCount(1);
  await expect(
    log(app).getByRole("article", { name: "add: done" }),
  ).toHaveCount(1);
  await expect(
    app.getByRole("textbox", { name: "Message" }),
    "the message field should be focused again",
  ).toBeFocused();
});

test("three calls of one answer are allowed with one button, each with its hash", async ({
  app,
  host,
}) => {
  await sendMessage(app, "please add thrice at the harbour");
  const list = app.getByTestId("turn-requests");
  await expect(list).toContainText("Run 3 tool calls?");
  await expect(list, "the list should name the conversation of the calls").toContainText(
    "The model asked in “Sums”.",
  );
  await expect(
    log(app).getByTestId("consent-request"),
    "no call should have a separate consent request",
  ).toHaveCount(0);
  await expect(
    log(app).getByRole("button", { name: "Cancel add" }),
    "each call can be cancelled alone",
  ).toHaveCount(3);
  await expect(app.getByRole("dialog"), "no dialog should cover the conversation").toHaveCount(0);
  await expect(
    list.getByRole("checkbox", { name: /^Call \d: add on harbour$/ }),
  ).toHaveCount(3);
  const hashes = list.getByText(/^Hash: [0-9a-f]{8}$/);
  await expect(hashes).toHaveCount(3);
  expect(
    new Set(await hashes.allTextContents()).size,
    "each call should have a distinct hash",
  ).toBe(3);
  await app.keyboard.press("F6");
  await expect(
    list.getByRole("button", { name: "Deny all 3" }),
    "F6 should focus the button to deny",
  ).toBeFocused();
  await assertAccessible(app, "a list of calls");
  const button = list.getByRole("button", { name: "Allow these 3" });
  await app.mouse.move(1, 1);
  await readRest(app, button, list);
  await button.click();
  await expect(log(app).getByText("All three are done.")).toBeVisible();
  await expect(
    log(app).getByRole("article", { name: "add: done" }),
  ).toHaveCount(3);
  expect((await host.snapshot()).consentRequests, "no consent request should be pending").toEqual([]);
  await expect(
    app.getByRole("textbox", { name: "Message" }),
    "the message field should be focused again",
  ).toBeFocused();
});

test("the list of calls fits a narrow window, and one of them can be deselected", async ({
  app,
}) => {
  await app.setViewportSize({ width: 480, height: 900 });
  await sendMessage(app, "please add thrice at the harbour");
  const list = app.getByTestId("turn-requests");
  await expect(list.getByRole("checkbox")).toHaveCount(3);
  const overflow = await list.evaluate((frame) =>
    [frame, ...frame.querySelectorAll("section, footer, li")].some(
      (element) => element.scrollWidth > element.clientWidth,
    ),
  );
  expect(overflow, "nothing should be cut off").toBe(false);
  await assertAccessible(app, "a list of calls in a narrow window");
  await list.getByRole("checkbox", { name: "Call 2: add on harbour" }).click();
  const button = list.getByRole("button", { name: "Allow these 2" });
  await app.mouse.move(1, 1);
  await readRest(app, button, list);
  await button.click();
  await expect(
    log(app).getByRole("article", { name: "add: done" }),
  ).toHaveCount(2);
  await expect(
    log(app).getByTestId("consent-request"),
    "the deselected call should have a separate consent request",
  ).toHaveCount(1);
  await allow(app, "Allow once");
  await expect(log(app).getByText("All three are done.")).toBeVisible();
});

test("a request out of view is linked, and shown as a dialog in other views", async ({
  app,
  conversation,
}) => {
  await sendMessage(app, "write a long answer");
  await expect(
    log(app)
      .getByText(/word word/)
      .first(),
  ).toBeVisible();
  await app.getByRole("button", { name: "Stop" }).click();
  await sendMessage(app, "please add at the harbour");
  await expect(log(app).getByTestId("consent-request")).toBeVisible();
  await visit(app, "#/settings");
  await expect(
    app.getByRole("dialog").getByText("Run add on harbour?"),
    "other views should show the request as a dialog",
  ).toBeVisible();
  await waitUntilDeniable(app);
  await app.getByRole("button", { name: "Deny", exact: true }).click();
  await visit(app, `#/conversation/${conversation}`);
  await expect(
    log(app).getByRole("article", { name: "add: denied" }),
    "the conversation should show the denied call",
  ).toBeVisible();
});

test("a picture is attached, previewed, and sent to the model", async ({
  app,
  provider,
}) => {
  const square = {
    name: "square.png",
    mimeType: "image/png",
    buffer: Buffer.from(SQUARE, "base64"),
  };
  await app.locator("input[type=file]").setInputFiles(square);
  const files = app.getByRole("list", { name: "Attached files" });
  await expect(files).toContainText("square.png");
  await expect(files.locator("img"), "the files should show a preview").toBeVisible();
  await assertAccessible(app, "an attached file");
  await sendMessage(app, "what is in the picture?");
  await expect(log(app).getByText("A red square.")).toBeVisible();
  await expect(files, "the attached files should be cleared after sending").toHaveCount(0);
  await expect(
    log(app).getByRole("img", { name: "square.png" }),
    "the sent message should show the picture",
  ).toBeVisible();
  expect(await lastRequest(provider), "the provider should receive the bytes of the picture").toContain(
    SQUARE.slice(0, 60),
  );
  await app.reload();
  await expect(
    log(app).getByRole("img", { name: "square.png" }),
    "the picture should be restored after a reload",
  ).toBeVisible();
});

test("files are attached by paste and drop, and limits are explained", async ({
  app,
}) => {
  const files = app.getByRole("list", { name: "Attached files" });
  await app.getByRole("textbox", { name: "Message" }).evaluate((field) => {
    const data = new DataTransfer();
    data.items.add(
      new File(["pasted text"], "pasted.txt", { type: "text/plain" }),
    );
    field.dispatchEvent(
      new ClipboardEvent("paste", {
        clipboardData: data,
        bubbles: true,
        cancelable: true,
      }),
    );
  });
  await expect(files).toContainText("pasted.txt");
  await log(app).evaluate((place) => {
    const data = new DataTransfer();
    data.items.add(
      new File(["dropped"], "dropped.md", { type: "text/markdown" }),
    );
    data.items.add(new File([""], "nothing.txt", { type: "text/plain" }));
    data.items.add(new File([new Uint8Array(17 << 20)], "huge.bin"));
    place.dispatchEvent(
      new DragEvent("drop", {
        dataTransfer: data,
        bubbles: true,
        cancelable: true,
      }),
    );
  });
  await expect(files).toContainText("dropped.md");
  const alerts = app.getByTestId("composer").getByRole("alert");
  await expect(
    alerts.filter({ hasText: "nothing.txt is empty." }),
  ).toBeVisible();
  await expect(
    alerts.filter({ hasText: /huge\.bin is 1[678].*The limit is/ }),
  ).toBeVisible();
  await app.getByRole("button", { name: "Remove dropped.md" }).click();
  await expect(files).not.toContainText("dropped.md");
});

test("an answer is stopped and repeated, and an edited message creates a version", async ({
  app,
}) => {
  await sendMessage(app, "write a long answer");
  await expect(
    log(app)
      .getByText(/word word/)
      .first(),
    "the beginning of the answer should be visible",
  ).toBeVisible();
  await app.getByRole("button", { name: "Stop" }).click();
  await expect(log(app).getByText("You stopped the answer.")).toBeVisible();
  await log(app).getByRole("button", { name: "Answer again" }).first().click();
  await expect(
    log(app).getByText("answering…"),
    "the model should answer again",
  ).toBeVisible();
  await app.getByRole("button", { name: "Stop" }).click();
  await expect(
    log(app).getByText("2/2"),
    "the new answer should be another version",
  ).toBeVisible();
  await log(app).getByRole("button", { name: "Edit and send again" }).click();
  await log(app)
    .getByRole("textbox", { name: "Edit and send again" })
    .fill("say hello");
  await log(app).getByRole("button", { name: "Send", exact: true }).click();
  await expect(
    log(app).getByText(/Hello! Grüße/),
    "the edited message should be answered",
  ).toBeVisible();
  await log(app)
    .getByRole("button", { name: "Earlier version" })
    .first()
    .click();
  await expect(
    log(app).getByText("write a long answer"),
    "the earlier version should be shown",
  ).toBeVisible();
  await expect(log(app).getByText(/Hello! Grüße/)).toHaveCount(0);
  await assertAccessible(app, "versions");
});

test("E4, E17: a new conversation has the tools of the last one and one explanation, and is named after its first message", async ({
  app,
  host,
}) => {
  const left = app.getByRole("navigation");
  await left.getByRole("button", { name: "New conversation", exact: true }).click();
  const created = left.getByRole("link", { name: "New conversation" });
  await expect(created, "it should be opened").toHaveAttribute("aria-current", "page");
  await expect(app.getByText("Start here")).toBeVisible();
  await expect(
    app.getByText(/press \/ for a prompt/),
    "E17: the explanation should be shown once",
  ).toHaveCount(1);
  await expect(
    app.getByRole("button", { name: "Tools of harbour" }),
    "E4: the tools should be those of the last conversation",
  ).toBeVisible();
  const { settings } = await host.call<{ settings: object }>("read_snapshot");
  await host.call("set_settings", { ...settings, language: "zh" });
  await expect(app.getByText("从这里开始")).toBeVisible();
  await app.getByTestId("composer").getByRole("textbox").fill("Say hello to Bergen.\nIn one line.");
  await app.keyboard.press("Enter");
  await expect(
    left.getByText("Say hello to Bergen.", { exact: true }),
    "the first line should be the title, also in another language",
  ).toBeVisible();
});

test("tools are disabled one by one, and unreviewed ones are not offered", async ({
  app,
  host,
  conversation,
}) => {
  await app.getByRole("button", { name: "Tools of harbour" }).click();
  const dialog = app.getByRole("dialog");
  await expect(
    dialog.getByRole("button", { name: "Review tools of harbour" }),
    "tools that were not reviewed should have a way to the review",
  ).toBeVisible();
  await dialog.getByRole("button", { name: "Choose tools of harbour" }).click();
  await expect(
    dialog.getByRole("checkbox", { name: "add", exact: true }),
  ).toBeChecked();
  await expect(
    dialog.getByRole("checkbox", { name: "write_note" }),
    "a tool that was not reviewed should be disabled",
  ).toBeDisabled();
  await assertAccessible(app, "the tools of a server");
  await dialog.getByRole("checkbox", { name: "add", exact: true }).click();
  await expect(dialog.getByText(/^0 tools offered/)).toBeVisible();
  const { settings } = await host.call<{ settings: { servers: unknown[] } }>(
    "read_conversation",
    { conversation },
  );
  expect(settings.servers).toEqual([
    { server: "harbour", tools: [], instructions: null },
  ]);
});
