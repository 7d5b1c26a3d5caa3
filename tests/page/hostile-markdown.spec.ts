// Markdown that loads, embeds, links or is too large (X15, X17, X20).
import { expect, type Locator, type Page } from "@playwright/test";

import { attack, beats, show, text, tool } from "./attack";
import { test } from "./fixtures";
import { Requests } from "./waiting";

const responses = (markdown: (collector: string) => string) => (collector: string) => ({
  reply: { "tools/list": tool(), "tools/call": text(markdown(collector)) },
});

/** Returns the elements of a result that could load, run or embed something. */
function dangerous(result: Locator): Promise<string[]> {
  return result.evaluate((root) => {
    const names = "iframe,object,embed,link,script,style,form,base,meta,math,video,audio,source,frame,applet,portal,template";
    const found = [...root.querySelectorAll(names)].map((element) => element.outerHTML);
    for (const element of root.querySelectorAll("*")) {
      for (const { name, value } of element.attributes) {
        const isLoading = /^(src|srcset|href|action|formaction|poster|background|ping|xlink:href|data)$/.test(name);
        const isOwn = /^(data:image\/(png|jpeg|webp|gif);|blob:|#)/.test(value);
        if ((isLoading && !isOwn) || /^on/.test(name) || (name === "style" && value.includes("url("))) {
          found.push(element.outerHTML.slice(0, 200));
        }
      }
    }
    return found;
  });
}

/** Formulas with characters that Markdown would remove or interpret, and a drawing. */
const FORMULA = String.raw`\(\{a\}_1 \\ *b* <b>c</b>\)`;
const DISPLAYED = String.raw`\[
\{a\} \\
- ![b](https://host.test/b.png)
\]`;
const DRAWING = "graph TD\n  A --> B";

test("X15 Markdown loads nothing and creates no element that could, and formulas and drawings stay source", async ({ page }) => {
  const what = "X15, pictures, frames, style sheets, forms, drawings and links in Markdown";
  const markdown = (url: string) => `# Hello

![inline](${url}/inline.png) ![reference][r] ![data](data:image/svg+xml,<svg onload=alert(1)>)
<img src="${url}/img.png" srcset="${url}/set.png 2x" onerror="alert(1)">
<div style="background:url(${url}/css.png)">styled</div><style>@import "${url}/sheet.css"; body{display:none}</style>
<link rel="prefetch" href="${url}/prefetch"><link rel="dns-prefetch" href="//example.test">
<iframe src="${url}/frame"></iframe><object data="${url}/object"></object><embed src="${url}/embed">
<svg><image href="${url}/svg.png"/><script>fetch("${url}/script")</script></svg>
<math><mtext><mglyph><style><img src="${url}/mutation" onerror=alert(1)></style></mglyph></mtext></math>
<form action="${url}/form"><input type="image" src="${url}/input.png"><button formaction="${url}/button">Go</button></form>
<video poster="${url}/poster"><source src="${url}/video"></video><audio src="${url}/audio" autoplay></audio>
<base href="${url}/"><meta http-equiv="refresh" content="0;url=${url}/refresh"><a href="data:text/html,<script>1</script>" ping="${url}/ping">x</a>
<${url}/autolink> ${url}/bare [data](data:text/html,x) [js](javascript:alert(1))

${FORMULA}

${DISPLAYED}

\`\`\`mermaid
${DRAWING}
\`\`\`

[r]: ${url}/reference.png "title"
`;
  await attack(page, what, responses(markdown), async ({ app, hits }) => {
    const requests = new Requests(app);
    await show(app);
    const result = app.getByTestId("tool-result");
    await expect(result.getByRole("heading", { name: "Hello" })).toBeVisible();
    await requests.settled();
    expect(await dangerous(result), `${what}: no element should be created that could load or run something`).toEqual([]);
    expect(hits(), `${what}: nothing should be fetched`).toBe(0);
    await expect(result, "a formula should be shown as written").toContainText(FORMULA);
    await expect(result.locator("pre", { hasText: DISPLAYED }), "a formula should keep its lines").toBeVisible();
    await expect(result.getByText("mermaid", { exact: true }), "a drawing should have a label").toBeVisible();
    await expect(result.locator("pre", { hasText: DRAWING }), "a drawing should be shown as its source").toBeVisible();
    await expect(app.getByRole("banner"), `${what}: the style of the result should not affect the page`).toBeVisible();
  });
});

const ADDRESSES_WITH_SCHEMES = ["file:///etc/passwd", "smb://host.test/share", "javascript:alert(1)", "data:text/html,x", "vscode://x/y"];
const OTHER_ADDRESSES = ["ms-msdt:/id", "tel:+15550100", "//host.test/x", "/settings", "tauri://localhost/"];

/** Ways to follow a link. `true` if the way opens the link dialog for web links. */
const WAYS_TO_FOLLOW_LINK: [string, boolean, (link: Locator, app: Page) => Promise<void>][] = [
  ["a click", true, (link) => link.click({ force: true })],
  ["ctrl and a click", true, (link) => link.click({ modifiers: ["Control"], force: true })],
  ["shift and a click", true, (link) => link.click({ modifiers: ["Shift"], force: true })],
  ["the middle button", false, (link) => link.click({ button: "middle", force: true })],
  ["Enter", true, (link) => link.press("Enter")],
  ["being dragged", false, (link, app) => link.dragTo(app.getByRole("banner"), { force: true })],
];

test("X17 links open the dialog only, and only for the web", async ({ page }) => {
  const what = "X17, ten kinds of addresses, followed in six ways";
  const links = [...ADDRESSES_WITH_SCHEMES, ...OTHER_ADDRESSES].map((url, number) => `- [link ${number}](<${url}>)`).join("\n");
  const markdown = () => `${links}\n- <a href="https://host.test/blank" target="_blank">blank</a>\n- [web](https://host.test/web)`;
  await attack(page, what, responses(markdown), async ({ app, host }) => {
    await show(app);
    const before = app.url();
    const result = app.getByTestId("tool-result");
    const anchors = result.locator("a");
    await expect(anchors.last()).toBeVisible();
    const count = await anchors.count();
    const dialog = app.getByRole("dialog");
    for (let number = 0; number < count; number++) {
      const isToWeb = (await anchors.nth(number).getAttribute("role")) === "link";
      for (const [way, opensDialog, follow] of WAYS_TO_FOLLOW_LINK) {
        await follow(anchors.nth(number), app);
        expect(app.url(), `${what}: ${way} should not navigate the page`).toBe(before);
        expect(app.context().pages().length, `${what}: ${way} should open no window`).toBe(1);
        expect(host.opened(), `${what}: ${way} should open nothing without consent`).toEqual([]);
        if (isToWeb && opensDialog) {
          await expect(dialog, `${what}: ${way} should show the link dialog`).toBeVisible();
          await app.keyboard.press("Escape");
        }
        await expect(dialog).toBeHidden();
      }
    }
    await app.evaluate(() => void window.open("https://host.test/"));
    expect(host.opened(), `${what}: window.open should open nothing in the system`).toEqual([]);
    await result.getByText("web", { exact: true }).click();
    await expect(dialog, "the dialog should show the whole URL").toContainText("https://host.test/web");
    await dialog.getByRole("button", { name: /^Open/ }).click();
    await expect.poll(() => host.opened(), "the URL should be opened once the user approves it").toEqual(["https://host.test/web"]);
  });
});

for (const [about, markdown] of [
  ["10 MB of text", () => "word *more* `code` [a](https://host.test)\n".repeat(250_000)],
  ["10,000 nested quotes and lists", () => `${">".repeat(10_000)} deep\n\n${"- ".repeat(10_000)}deep`],
  ["a table of 100,000 rows", () => `| a | b |\n| - | - |\n${"| 1 | 2 |\n".repeat(100_000)}`],
] as const) {
  test(`X20 ${about} does not block the page`, async ({ page }) => {
    const what = `X20, ${about} as Markdown`;
    await attack(page, what, responses(markdown), async ({ app }) => {
      await show(app);
      const result = app.getByTestId("tool-result");
      // Text that is nested too deeply is shown as source from the start.
      const source = result.getByRole("button", { name: "Show as written" }).or(result.locator(".raw")).first();
      await expect(source, `${what}: the source should be available`).toBeVisible();
      await result.getByRole("button", { name: /^Show all/ }).first().click();
      await beats(app);
      await expect(app.getByRole("banner"), `${what}: the page should still be rendered`).toBeVisible();
    });
  });
}
