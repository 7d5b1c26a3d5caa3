// Conversation with an independent mock provider (aimock): tools that are called and decided inline, files, stopping,
// repeated answers, versions.
import { AxeBuilder } from "@axe-core/playwright";
import type { Locator, Page } from "@playwright/test";

import {
  allow,
  expect,
  consentRequest,
  readRest,
  waitUntilDeniable,
  test as base,
  visit,
  type DevHost,
} from "./fixtures";
import { Provider } from "./provider";

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

async function faultless(app: Page, what: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page: app }).analyze();
  const found = violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map((n) => n.target.join(" ")).join(", ")}`,
  );
  expect(found, `axe finds nothing: ${what}`).toEqual([]);
}

/** Returns the last request that the provider received, as JSON text. */
async function lastRequest(provider: Provider): Promise<string> {
  const requests = await provider.requests();
  return JSON.stringify(requests.at(-1)?.body.messages ?? []);
}

test("X09: a call of the model is decided in its card with changed arguments, and the answer follows", async ({
  app,
  provider,
}) => {
  await sendMessage(app, "please add at the harbour");
  const frame = log(app).getByTestId("question");
  await expect(frame, "the question stands in the conversation").toContainText(
    "Run add on harbour?",
  );
  await expect(app.getByRole("dialog"), "and nothing covers it").toHaveCount(0);
  await expect(
    frame.getByRole("button", { name: "Deny", exact: true }),
    "who did not write has Deny",
  ).toBeFocused();
  await expect(
    app.getByRole("button", { name: /Approvals \(1\)/ }),
    "the queue has it, too",
  ).toBeVisible();
  await faultless(app, "a question in its card");
  await frame.getByRole("button", { name: "Edit the arguments" }).click();
  await frame.getByRole("textbox", { name: /First number/ }).fill("4");
  await frame.getByRole("button", { name: "Use these changes" }).click();
  await expect(frame).toContainText("4");
  await allow(app, "Allow once");
  await expect(
    log(app).getByText("The harbour says 44."),
    "the model went on with what came back",
  ).toBeVisible();
  expect(await lastRequest(provider), "it was told what the user changed").toContain(
    "The user changed the arguments",
  );
  const card = log(app).getByRole("article", { name: "add: done" });
  await card.getByRole("button", { expanded: false }).first().click();
  await expect(card, "what was asked for first").toContainText(
    "You changed this. The model requested:",
  );
  await expect(card, "and what came back").toContainText("4 + 40 = 44");
  await expect(
    app.getByRole("textbox", { name: "Message" }),
    "one can write on",
  ).toBeVisible();
  await faultless(app, "a call that is done");
  expect(await app.content(), "the key is nowhere").not.toContain(KEY);
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
  await faultless(app, "a reason is written");
  await frame.getByRole("button", { name: "Deny and send the reason" }).click();
  await expect(
    log(app).getByText("Then I leave it."),
    "the model read it",
  ).toBeVisible();
  expect(await lastRequest(provider), "in the request itself").toContain(
    "These are the wrong numbers",
  );
  const card = log(app).getByRole("article", { name: "add: denied" });
  await card.getByRole("button", { expanded: false }).first().click();
  await expect(card, "the card says why").toContainText(
    "These are the wrong numbers",
  );
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
  const frame = log(app).getByTestId("question");
  await expect(frame, "one is in front").toHaveCount(1);
  await expect(frame).toContainText("1 of 2");
  await waitUntilDeniable(app);
  await app.keyboard.press("d");
  await expect(frame, "then the other").toContainText("Sends to harbour:");
  await expect(frame).not.toContainText("of 2");
  const button = frame.getByRole("button", { name: "Allow once" });
  await expect(button, "once it could be read").toHaveAttribute(
    "aria-disabled",
    "false",
  );
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
    "and one writes on",
  ).toBeFocused();
});

test("three calls of one answer are allowed with one button, each with its hash", async ({
  app,
  host,
}) => {
  await sendMessage(app, "please add thrice at the harbour");
  const list = app.getByTestId("turn-requests");
  await expect(list).toContainText("Run 3 tool calls?");
  await expect(list, "whose idea it was").toContainText(
    "The model asked in “Sums”.",
  );
  await expect(
    log(app).getByTestId("question"),
    "none is asked for by itself",
  ).toHaveCount(0);
  await expect(app.getByRole("dialog"), "and nothing covers it").toHaveCount(0);
  await expect(
    list.getByRole("checkbox", { name: /^Call \d: add on harbour$/ }),
  ).toHaveCount(3);
  const hashes = list.getByText(/^Hash: [0-9a-f]{8}$/);
  await expect(hashes).toHaveCount(3);
  expect(
    new Set(await hashes.allTextContents()).size,
    "each has its own hash",
  ).toBe(3);
  await expect(
    list.getByRole("button", { name: "Deny these" }),
    "Deny has the focus",
  ).toBeFocused();
  await faultless(app, "a list of calls");
  const button = list.getByRole("button", { name: "Allow these 3" });
  await app.mouse.move(1, 1);
  await readRest(app, button, list);
  await button.click();
  await expect(log(app).getByText("All three are done.")).toBeVisible();
  await expect(
    log(app).getByRole("article", { name: "add: done" }),
  ).toHaveCount(3);
  expect((await host.snapshot()).questions, "nothing waits").toEqual([]);
  await expect(
    app.getByRole("textbox", { name: "Message" }),
    "and one writes on",
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
  expect(overflow, "nothing is cut off").toBe(false);
  await faultless(app, "a list of calls in a narrow window");
  await list.getByRole("checkbox", { name: "Call 2: add on harbour" }).click();
  const button = list.getByRole("button", { name: "Allow these 2" });
  await app.mouse.move(1, 1);
  await readRest(app, button, list);
  await button.click();
  await expect(
    log(app).getByRole("article", { name: "add: done" }),
  ).toHaveCount(2);
  await expect(
    log(app).getByTestId("question"),
    "the other one is asked for by itself",
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
  await expect(log(app).getByTestId("question")).toBeVisible();
  await visit(app, "#/settings");
  await expect(
    app.getByRole("dialog").getByText("Run add on harbour?"),
    "elsewhere it covers the page",
  ).toBeVisible();
  await waitUntilDeniable(app);
  await app.getByRole("button", { name: "Deny", exact: true }).click();
  await visit(app, `#/conversation/${conversation}`);
  await expect(
    log(app).getByRole("article", { name: "add: denied" }),
    "it was answered once",
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
  await expect(files.locator("img"), "as a small picture").toBeVisible();
  await faultless(app, "a file is attached");
  await sendMessage(app, "what is in the picture?");
  await expect(log(app).getByText("A red square.")).toBeVisible();
  await expect(files, "it went with the message").toHaveCount(0);
  await expect(
    log(app).getByRole("img", { name: "square.png" }),
    "where it can be seen",
  ).toBeVisible();
  expect(await lastRequest(provider), "the provider has its bytes").toContain(
    SQUARE.slice(0, 60),
  );
  await app.reload();
  await expect(
    log(app).getByRole("img", { name: "square.png" }),
    "it is kept",
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
    "it comes",
  ).toBeVisible();
  await app.getByRole("button", { name: "Stop" }).click();
  await expect(log(app).getByText("You stopped it.")).toBeVisible();
  await log(app).getByRole("button", { name: "Answer again" }).first().click();
  await expect(
    log(app).getByText("answering…"),
    "it answers anew",
  ).toBeVisible();
  await app.getByRole("button", { name: "Stop" }).click();
  await expect(
    log(app).getByText("2/2"),
    "the new answer is another version",
  ).toBeVisible();
  await log(app).getByRole("button", { name: "Edit and send again" }).click();
  await log(app)
    .getByRole("textbox", { name: "Edit and send again" })
    .fill("say hello");
  await log(app).getByRole("button", { name: "Send", exact: true }).click();
  await expect(
    log(app).getByText(/Hello! Grüße/),
    "the edited message is answered",
  ).toBeVisible();
  await log(app)
    .getByRole("button", { name: "Earlier version" })
    .first()
    .click();
  await expect(
    log(app).getByText("write a long answer"),
    "what was said before is there",
  ).toBeVisible();
  await expect(log(app).getByText(/Hello! Grüße/)).toHaveCount(0);
  await faultless(app, "versions");
});

test("tools are disabled one by one, and unreviewed ones are not offered", async ({
  app,
  host,
  conversation,
}) => {
  await app.getByRole("button", { name: "Tools of harbour" }).click();
  const dialog = app.getByRole("dialog");
  await dialog.getByRole("button", { name: "Choose tools of harbour" }).click();
  await expect(
    dialog.getByRole("checkbox", { name: "add", exact: true }),
  ).toBeChecked();
  await expect(
    dialog.getByRole("checkbox", { name: "write_note" }),
    "it was never seen",
  ).toBeDisabled();
  await faultless(app, "the tools of a server");
  await dialog.getByRole("checkbox", { name: "add", exact: true }).click();
  await expect(dialog.getByText(/^0 tools offered/)).toBeVisible();
  const { settings } = await host.call<{ settings: { servers: unknown[] } }>(
    "conversation",
    { conversation },
  );
  expect(settings.servers).toEqual([
    { server: "harbour", tools: [], instructions: null },
  ]);
});
