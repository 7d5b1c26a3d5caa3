// Apps of tool results (MCP Apps): review, display, and the requests of an app, on the board of the demo server.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Locator, Page } from "@playwright/test";

import { Provider } from "../provider.cjs";
import { appFrame, approveApp, callToolOnce, pageWith, reviewCard, scriptedApp } from "./apps";
import { allow, callToolAgain, consentRequest, ERAS, expect, test, visit, waitUntilDeniable } from "./fixtures";

const TOOL = "show_board";
const MOVE = "Move “Paint the buoy” to “Doing”";

for (const [era, setup] of ERAS) {
  test.describe(era, () => {
    test.use({ setup });

    // [apps-fetch-resource] [apps-render] [apps-tool-result] [apps-same-server]
    test("an app is reviewed, draws its result, and calls a tool of its server after consent", async ({ app, host }) => {
      await callToolOnce(app, TOOL);
      await expect(app.getByTestId("tool-result"), "the text should be shown too").toContainText("Paint the buoy (buoy)");
      await expect(app.locator("iframe"), "the app should not be shown without review").toHaveCount(0);
      await app.getByRole("button", { name: "Show app", exact: true }).click();
      await expect(reviewCard(app)).toContainText(TOOL);
      await expect(reviewCard(app)).toContainText("The app contacts no hosts.");
      await reviewCard(app).getByRole("button", { name: "Not now" }).click();
      await expect(reviewCard(app)).toBeHidden();
      await expect(app.locator("iframe"), "a dismissed app should not be shown").toHaveCount(0);

      await approveApp(app);
      const board = appFrame(app, TOOL);
      await expect(board.getByRole("button", { name: /^Paint the buoy/ }), "the app should draw the result").toBeVisible();
      const doing = board.getByRole("list", { name: "Doing" });
      await board.getByRole("button", { name: MOVE }).click();
      await expect(consentRequest(app)).toContainText("Run move_card on harbour?");
      await expect(consentRequest(app), "the request should name the app").toContainText(/app of .?show_board/);
      const { entries } = await host.activity("harbour");
      const calls = entries.filter(({ sent, method }) => sent && method === "tools/call");
      expect(calls.length, "only the call of the user should be sent before consent").toBe(1);
      await allow(app, "Allow once");
      await expect(doing, "the app should receive the result of its call").toContainText("Paint the buoy");
    });
  });
}

test.describe("the board", () => {
  test.beforeEach(async ({ app }) => {
    await callToolOnce(app, TOOL);
    await approveApp(app);
    await expect(appFrame(app, TOOL).getByText("4 tasks")).toBeVisible();
  });

  // [apps-mcp-methods]
  test("a denied call moves nothing, and the app is informed", async ({ app, host }) => {
    const board = appFrame(app, TOOL);
    await board.getByRole("button", { name: MOVE }).click();
    await consentRequest(app).getByRole("button", { name: "Deny" }).click();
    await expect(board.getByRole("alert")).toContainText("The card was not moved");
    await expect(board.getByRole("list", { name: "To do" })).toContainText("Paint the buoy");
    const { entries } = await host.activity("harbour");
    const calls = entries.filter(({ sent, method }) => sent && method === "tools/call");
    expect(calls.length, "the denied call should not be sent").toBe(1);
  });

  // [apps-open-link]
  test("a link of an app is shown before it is opened, and a refusal reaches the app", async ({ app, host }) => {
    const board = appFrame(app, TOOL);
    const dialog = app.getByRole("dialog", { name: "Open this link?" });
    await board.getByRole("button", { name: "Open documentation" }).click();
    await expect(dialog).toContainText("https://example.com/");
    await expect(dialog).toContainText("The app of harbour requests to open this link.");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await expect(board.getByRole("alert")).toContainText("The link was not opened");
    expect(host.opened(), "a refused link should not be opened").toEqual([]);

    // A link right after another one is refused, since its dialog could appear under the pointer.
    await expect(async () => {
      await board.getByRole("button", { name: "Open documentation" }).click();
      await expect(dialog).toBeVisible({ timeout: 500 });
    }).toPass({ intervals: [1_200] });
    await app.mouse.move(1, 1);
    await dialog.getByRole("button", { name: "Open in the browser" }).click();
    await expect.poll(() => host.opened(), "the approved link should be opened").toEqual(["https://example.com/"]);
    await expect(board.getByRole("alert"), "the app should receive the outcome").toBeHidden();
  });

  // [apps-draft-download-confirm]
  test("a file of an app is saved where the user chooses", async ({ app, host }) => {
    const file = join(host.folder, "board.txt");
    host.setDialogAnswer("save-file", file);
    const board = appFrame(app, TOOL);
    await board.getByRole("button", { name: "Save as text" }).click();
    const files = app.getByRole("region", { name: "Files of the app" });
    await expect(files).toContainText("harbour-board.txt");
    await files.getByRole("button", { name: "Save harbour-board.txt…" }).click();
    await expect(files).toBeHidden();
    await expect(board.getByRole("alert")).toBeHidden();
    expect(readFileSync(file, "utf8"), "the file should have the content that the app sent").toContain("- Paint the buoy");
  });

  test("an app is shown in full screen at its request, and returns", async ({ app }) => {
    const board = appFrame(app, TOOL);
    await board.getByRole("button", { name: "Full screen" }).click();
    await expect(app.getByText("The app is shown in full screen.")).toBeAttached();
    await expect(board.getByRole("button", { name: "Leave full screen" }), "the app should know its mode").toBeVisible();
    await app.getByRole("button", { name: "Exit full screen" }).click();
    await expect(board.getByRole("button", { name: "Full screen", exact: true })).toBeVisible();
  });

  test("the board fits into a narrow window and is used with the keyboard", async ({ app }) => {
    await app.setViewportSize({ width: 480, height: 780 });
    const board = appFrame(app, TOOL);
    const excess = () => board.locator("html").evaluate((html) => html.scrollWidth - html.clientWidth);
    await expect.poll(excess, "nothing should be wider than the frame").toBeLessThanOrEqual(0);
    const card = board.getByRole("button", { name: /^Grease the winch/ });
    // A frame that takes the focus without the user gives it back.
    await board.getByRole("heading", { name: "Harbour board" }).click();
    await card.focus();
    await app.keyboard.press("Enter");
    await expect(card, "the card should be selected").toHaveAttribute("aria-pressed", "true");
    await expect(card, "the selected card should stay focused").toBeFocused();
  });
});

test.describe("a scripted app", () => {
  test.use({ setup: scriptedApp(pageWith("First")) });

  // [apps-review-html]
  test("an app whose page has changed is reviewed again", async ({ app, host }) => {
    await callToolOnce(app, "show");
    await approveApp(app);
    await expect(appFrame(app, "show").getByRole("heading", { name: "First" })).toBeVisible();

    writeFileSync(join(host.folder, "script.json"), JSON.stringify({ html: pageWith("Second") }));
    await callToolAgain(app, "show");
    await app.getByRole("button", { name: "Show app", exact: true }).click();
    await expect(reviewCard(app)).toContainText("The app has changed since you approved it.");
    await expect(app.locator("iframe"), "the changed app should not be shown without review").toHaveCount(0);
    await reviewCard(app).getByRole("button", { name: "Show app", exact: true }).click();
    await expect(appFrame(app, "show").getByRole("heading", { name: "Second" })).toBeVisible();
  });
});

test.describe("an app that moves", () => {
  const script = `
    const query = matchMedia("(prefers-reduced-motion: reduce)");
    const report = () => show(query.matches ? "reduced" : "unlimited");
    query.addEventListener("change", report);
    report();`;
  test.use({ setup: scriptedApp(pageWith("Motion", script)) });

  // The host context of MCP Apps has no member for it, so that an app has to ask the media query.
  test("knows if the user prefers reduced motion, also after a change", async ({ app }) => {
    await app.emulateMedia({ reducedMotion: "reduce" });
    await callToolOnce(app, "show");
    await approveApp(app);
    const outcome = appFrame(app, "show").locator("#outcome");
    await expect(outcome).toHaveText("reduced");
    await app.emulateMedia({ reducedMotion: "no-preference" });
    await expect(outcome).toHaveText("unlimited");
    await app.emulateMedia({ reducedMotion: "reduce" });
    await expect(outcome).toHaveText("reduced");
  });
});

for (const prefersBorder of [true, false]) {
  test.describe(`an app that ${prefersBorder ? "prefers" : "declines"} a border`, () => {
    test.use({ setup: scriptedApp(pageWith("Border"), { prefersBorder }) });

    // [apps-prefers-border] [apps-boundaries]
    test("gets it or not, and in both cases a bar that names its server and a line below it", async ({ app }) => {
      await callToolOnce(app, "show");
      await approveApp(app);
      await expect(appFrame(app, "show").getByRole("heading", { name: "Border" })).toBeVisible();
      const region = app.getByRole("region", { name: "App of harbour" });
      const transparent = "rgba(0, 0, 0, 0)";
      for (const side of ["left", "right"]) {
        const border = expect(region, `the border on the ${side}`);
        await (prefersBorder ? border.not : border).toHaveCSS(`border-${side}-color`, transparent);
      }
      for (const side of ["top", "bottom"]) {
        await expect(region, `the line at the ${side}`).not.toHaveCSS(`border-${side}-color`, transparent);
        await expect(region).toHaveCSS(`border-${side}-style`, "solid");
      }
      await expect(region.getByText("App of harbour", { exact: true })).toBeVisible();
    });
  });
}

/** Script of an app that shows the display mode of which the host informs it, and requests full screen. */
const MODES_SCRIPT = `
  const button = document.createElement("button");
  button.textContent = "Request full screen";
  button.onclick = () => post({ id: "mode", method: "ui/request-display-mode", params: { mode: "fullscreen" } });
  document.body.append(button);
  addEventListener("message", ({ source, data }) => {
    if (source !== parent) return;
    if (data.id === "mode") show("answered " + data.result.mode);
    if (data.params?.displayMode) show("shown " + data.params.displayMode);
  });
  show("ready");`;

test.describe("an app that supports the small window only", () => {
  test.use({ setup: scriptedApp(pageWith("Modes", MODES_SCRIPT, { availableDisplayModes: ["inline", "pip"] })) });

  // [apps-display-mode-declared]
  test("is shown in no display mode that it does not declare", async ({ app }) => {
    await callToolOnce(app, "show");
    await approveApp(app);
    const outcome = appFrame(app, "show").locator("#outcome");
    await expect(outcome).toHaveText("ready");
    await app.getByRole("button", { name: "Actions for the app of harbour" }).click();
    const item = (name: string) => app.getByRole("menuitem", { name, exact: true });
    await expect(item("Small window")).toBeVisible();
    await expect(item("Full screen"), "an undeclared mode should not be offered").toHaveCount(0);
    await item("Small window").click();
    await expect(outcome, "the app should know its mode").toHaveText("shown pip");
    await appFrame(app, "show").getByRole("button", { name: "Request full screen" }).click();
    await expect(outcome, "the mode should not change").toHaveText("answered pip");
    await expect(app.locator("[data-raised]")).toHaveAttribute("data-raised", "pip");
    await app.getByRole("region", { name: "App of harbour" }).getByRole("button", { name: "Return" }).click();
    await expect(outcome).toHaveText("shown inline");
  });
});

test.describe("an app that does not say which display modes it supports", () => {
  test.use({ setup: scriptedApp(pageWith("Modes", MODES_SCRIPT)) });

  test("is shown in full screen by the user, and not at its request", async ({ app }) => {
    await callToolOnce(app, "show");
    await approveApp(app);
    const outcome = appFrame(app, "show").locator("#outcome");
    await expect(outcome).toHaveText("ready");
    await appFrame(app, "show").getByRole("button", { name: "Request full screen" }).click();
    await expect(outcome).toHaveText("answered inline");
    await app.getByRole("button", { name: "Actions for the app of harbour" }).click();
    await app.getByRole("menuitem", { name: "Full screen", exact: true }).click();
    await expect(outcome, "the app should know its mode").toHaveText("shown fullscreen");
    await app.getByRole("button", { name: "Exit full screen" }).click();
    await expect(outcome).toHaveText("shown inline");
  });
});

/** Returns the inspector of the shown app. */
function inspector(app: Page): Locator {
  return app.getByRole("dialog", { name: "Messages of the app of harbour" });
}

test.describe("an app that throws at its start", () => {
  const html = `<!doctype html><title>Failing</title>
    <script>
      throw new Error("no harbour today");
    </script>`;
  test.use({ setup: scriptedApp(html), checksFaults: false });

  test("says so with its error, and the text of the result stays", async ({ app }) => {
    await callToolOnce(app, "show");
    await approveApp(app);
    await expect(app.getByText("The app did not start", { exact: true })).toBeVisible();
    await expect(app.getByText("The app reports an error:")).toBeVisible();
    // The line is that of the document that the server provides.
    await expect(app.getByText(/^Line 3: Error: no harbour today/)).toBeVisible();
    await expect(app.getByTestId("tool-result")).toContainText("This is the text of the result.");
    await app.getByRole("button", { name: "Messages", exact: true }).click();
    const output = inspector(app).getByRole("list", { name: "Console output" }).getByRole("listitem");
    await expect(output).toContainText([/Uncaught error.*no harbour today/s]);
  });
});

test.describe("an app that writes to the clipboard", () => {
  const script = `
    const button = document.createElement("button");
    button.textContent = "Copy";
    button.onclick = () =>
      navigator.clipboard.writeText("from the app").then(() => show("written"), ({ name }) => show("refused: " + name));
    document.body.append(button);
    show("ready");`;
  const ui = { permissions: { clipboardWrite: {}, camera: {} }, csp: { frameDomains: ["https://frames.example"] } };
  // Chromium reports each refusal on the console.
  test.use({ setup: scriptedApp(pageWith("Clipboard", script), ui), checksFaults: false });

  // [apps-permissions]
  test("does so only once the user has allowed it, and the rest is refused with the reasons", async ({ app }) => {
    await app.context().grantPermissions(["clipboard-write"]);
    const outcome = appFrame(app, "show").locator("#outcome");
    const copy = appFrame(app, "show").getByRole("button", { name: "Copy" });
    await callToolOnce(app, "show");
    await approveApp(app);
    await copy.click();
    await expect(outcome, "nothing should be allowed by default").toHaveText("refused: NotAllowedError");

    await app.getByRole("button", { name: "Actions for the app of harbour" }).click();
    await app.getByRole("menuitem", { name: "Permissions…" }).click();
    await reviewCard(app).getByText("2 ignored declarations").click();
    await expect(reviewCard(app)).toContainText("frameDomains https://frames.example is not available: ");
    await expect(reviewCard(app)).toContainText("camera is not available: ");
    await reviewCard(app).getByRole("checkbox", { name: "Allow writing to the clipboard" }).check();
    await reviewCard(app).getByRole("button", { name: "Show app", exact: true }).click();
    await expect(outcome).toHaveText("ready");
    await copy.click();
    await expect(outcome).toHaveText("written");
  });
});

test.describe("an app whose request is blocked", () => {
  const html = `<!doctype html><title>Blocked</title><script>
    console.warn("asking for data", { attempt: 1 });
    fetch("https://api.example/data").then(() => undefined);
  </script>`;
  test.use({ setup: scriptedApp(html), checksFaults: false });

  test("says which directive blocked which address, also in the inspector", async ({ app }) => {
    await callToolOnce(app, "show");
    await approveApp(app);
    await expect(app.getByText("The app did not start", { exact: true })).toBeVisible();
    await expect(app.getByText("The app reports that its policy (connect-src) blocked a request:")).toBeVisible();
    await expect(app.getByText("https://api.example/data", { exact: true })).toBeVisible();
    await app.getByRole("button", { name: "Messages", exact: true }).click();
    const blocked = inspector(app).getByRole("list", { name: "Blocked requests" }).getByRole("listitem");
    await expect(blocked).toContainText([/connect-src\s*https:\/\/api\.example\/data\s*1 time/]);
    const output = inspector(app).getByRole("list", { name: "Console output" }).getByRole("listitem");
    await expect(output).toContainText(["asking for data {\"attempt\":1}", /Uncaught error.*Unhandled rejection/s]);
    await expect(output.first(), "output should have its level").toContainText("Warning");
    await expect(inspector(app).getByText("0 problems"), "reports are no messages of the protocol").toBeVisible();
  });
});

test.describe("an app with much console output", () => {
  const script = `
    for (let i = 0; i < 5000; i++) console.log("line " + i);
    setTimeout(() => console.log("the last line"), 1000);
    show(document.compatMode + ", scripts: " + document.scripts.length);`;
  test.use({ setup: scriptedApp(pageWith("Noisy", script)) });

  test("finds its document as its server wrote it, and most of its output is dropped", async ({ app }) => {
    await callToolOnce(app, "show");
    await approveApp(app);
    await expect(appFrame(app, "show").locator("#outcome")).toHaveText("CSS1Compat, scripts: 1");
    await app.getByRole("button", { name: "Actions for the app of harbour" }).click();
    await app.getByRole("menuitem", { name: "Messages" }).click();
    const output = inspector(app).getByRole("list", { name: "Console output" }).getByRole("listitem");
    await expect(output.first()).toContainText("line 0");
    await expect(output.last(), "output after a pause should be shown").toContainText("the last line");
    await expect(inspector(app).getByText(/^4\d{3} reports were dropped/)).toBeVisible();
    expect(await output.count(), "a burst should be limited").toBeLessThan(200);
    await expect(app.getByText("The app did not start")).toHaveCount(0);
  });
});

test.describe("an app that requests answers from a model", () => {
  const script = `
    let number = 0;
    const button = document.createElement("button");
    button.textContent = "Ask the model";
    button.onclick = () => {
      const messages = [{ role: "user", content: { type: "text", text: "say hello" } }];
      number += 1;
      show("asked");
      post({ id: "sampling " + number, method: "sampling/createMessage", params: { messages, maxTokens: 100 } });
    };
    document.body.append(button);
    addEventListener("message", ({ source, data }) => {
      if (source !== parent || data.id !== "sampling " + number) return;
      show(data.error ? "error " + data.error.code + ": " + data.error.message : "answer: " + data.result.content.text);
    });
    show(JSON.stringify(capabilities.sampling ?? "not offered"));`;
  test.use({ setup: scriptedApp(pageWith("Questions", script)) });

  // [apps-draft-sampling-guard]
  test("gets an answer after both approvals, an error if it is denied, and nothing once it is closed", async ({ app, host }) => {
    const provider = await Provider.start("sk-canary-apps-7c31");
    try {
      await provider.setUpIn(host);
      const { settings } = await host.call<{ settings: object }>("read_sampling", { server: "harbour" });
      const model = { provider: "fake", model: "gpt-5.2" };
      await host.call("set_sampling", { server: "harbour", settings: { ...settings, model } });
      await callToolOnce(app, "show");
      await approveApp(app);
      const outcome = appFrame(app, "show").locator("#outcome");
      const ask = appFrame(app, "show").getByRole("button", { name: "Ask the model" });
      await expect(outcome, "sampling should be offered, with tools").toHaveText('{"tools":{}}');

      await ask.click();
      const frame = consentRequest(app);
      await expect(frame, "the app should be named").toContainText("The app of show on harbour requests an answer from a model");
      await expect(frame).toContainText("say hello");
      expect(await provider.requestBodies(), "the model should receive nothing before consent").toEqual([]);
      await allow(app, "Ask gpt-5.2");
      await expect(frame).toContainText("Sends to the app of “show” as the model's answer:");
      await expect(outcome, "the app should receive nothing before consent").toHaveText("asked");
      await allow(app, "Send the answer");
      await expect(outcome).toHaveText("answer: Hello! Grüße, 你好 and 👋 from the model.");

      await ask.click();
      await app.mouse.move(1, 1);
      await waitUntilDeniable(app);
      await consentRequest(app).getByRole("button", { name: "Decline" }).click();
      await expect(outcome).toHaveText("error -1: the user rejected the request");

      await ask.click();
      await expect(consentRequest(app)).toContainText("say hello");
      await visit(app, "#/settings");
      await expect(consentRequest(app), "a closed app should leave no consent request").toHaveCount(0);
      expect((await provider.requestBodies()).length, "only the approved request should be sent").toBe(1);
    } finally {
      await provider.stop();
    }
  });

  test("is offered no sampling if the user has not turned it on for the server", async ({ app, host }) => {
    const { settings } = await host.call<{ settings: object }>("read_sampling", { server: "harbour" });
    await host.call("set_sampling", { server: "harbour", settings: { ...settings, isEnabled: false } });
    await callToolOnce(app, "show");
    await approveApp(app);
    const outcome = appFrame(app, "show").locator("#outcome");
    await expect(outcome).toHaveText('"not offered"');
    await appFrame(app, "show").getByRole("button", { name: "Ask the model" }).click();
    await expect(outcome).toHaveText(/^error -32601: /);
    await expect(consentRequest(app)).toHaveCount(0);
  });
});

test("after a reload of the window, an approved app is shown only when the user asks for it", async ({ app, host }) => {
  const provider = await Provider.start("sk-canary-apps-5d20");
  try {
    await provider.setUpIn(host);
    // The user has reviewed the tool: it was called once.
    const called = host.call("call_tool", { call: "seen", server: "harbour", tool: TOOL, arguments: {} });
    await host.answerNext("tool", { action: "allow", scope: "session" });
    await called;
    const { id } = await host.call<{ id: string }>("create_conversation", { title: "Board" });
    const settings = {
      model: { provider: "fake", model: "gpt-5.2" },
      servers: [{ server: "harbour", tools: null, instructions: null }],
      ...{ systemPrompt: "", shareRoots: false, thinking: false },
    };
    await host.call("set_conversation", { conversation: id, settings });
    await visit(app, `#/conversation/${id}`);
    await app.getByRole("textbox", { name: "Message" }).fill("show the board");
    await app.getByRole("button", { name: "Send", exact: true }).click();
    await expect(app.getByText("Here is the board.")).toBeVisible();
    await approveApp(app);
    const board = appFrame(app, TOOL);
    await expect(board.getByText("4 tasks")).toBeVisible();

    await app.reload();
    await expect(app.getByText("Here is the board.")).toBeVisible();
    const show = app.getByRole("button", { name: "Show app", exact: true });
    await expect(show).toBeVisible();
    await expect(app.locator("iframe"), "nothing of the app should be loaded by itself").toHaveCount(0);
    await show.click();
    await expect(board.getByText("4 tasks"), "the approval should be stored").toBeVisible();
    await expect(reviewCard(app), "an approved app should not be reviewed again").toHaveCount(0);

    // What the app last gave to the model is shown in its place.
    await board.getByRole("button", { name: /^Paint the buoy/ }).click();
    await expect(app.getByRole("button", { name: /Context from the app of show_board/ }).first()).toBeVisible();
    await app.getByRole("textbox", { name: "Message" }).fill("say hello");
    const answer = app.getByText(/^Hello! Grüße/);
    // A message is held for a moment after an app has changed its context.
    await expect(async () => {
      if (await answer.isHidden()) await app.getByRole("button", { name: "Send", exact: true }).click({ timeout: 500 });
      await expect(answer).toBeVisible({ timeout: 3_000 });
    }).toPass();
    const reads = async () => {
      const { entries } = await host.activity("harbour");
      return entries.filter(({ method }) => method === "resources/read").length;
    };
    const before = await reads();
    await app.reload();
    await expect(app.getByText("The app last gave this to the model:")).toBeVisible();
    await expect(app.getByText(/has selected the card “Paint the buoy”/).first()).toBeVisible();
    await expect(app.getByRole("button", { name: "Show app again" })).toBeVisible();
    await expect(app.locator("iframe"), "nothing of the app should be loaded by itself").toHaveCount(0);
    expect(await reads(), "nothing should be requested from the server").toBe(before);
  } finally {
    await provider.stop();
  }
});
