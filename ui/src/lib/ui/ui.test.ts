// @vitest-environment jsdom
// DOMPurify is reliable only in a DOM that parses HTML like browsers do.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, test } from "vitest";

import { pendingLink } from "$lib/state/pending-link.svelte";
import { startFakeHost } from "$lib/testing/fake-host";
import { holdTimers } from "$lib/testing/held-timers";

import ContentView from "./ContentView.svelte";
import JsonEditor from "./JsonEditor.svelte";
import JsonView from "./JsonView.svelte";
import LinkDialog from "./LinkDialog.svelte";
import Markdown from "./Markdown.svelte";
import Untrusted from "./Untrusted.svelte";
import { sanitize } from "./sanitize";

const PNG = "data:image/png;base64,";
const PIXEL = `${PNG}iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==`;

beforeEach(async () => {
  await startFakeHost();
  pendingLink.close();
});

describe("HTML", () => {
  test.each([
    ["<script>alert(1)</script>", ""],
    ["<p onclick=alert(1)>a</p>", "<p>a</p>"],
    ['<img src="https://evil.example/x.png" alt="a cat">', "a cat"],
    ['<a href="javascript:alert(1)">x</a>', "<a>x</a>"],
    ['<a href="file:///etc/passwd">x</a>', "<a>x</a>"],
    ["<style>*{display:none}</style><b>x</b>", "<b>x</b>"],
    ['<p style="position:fixed">x</p>', "<p>x</p>"],
    ['<p class="dialog">x</p>', "<p>x</p>"],
    ["<form action=//evil><button>ok</button></form>", "ok"],
    ["<iframe src=//evil></iframe>", ""],
    ["<svg><a href=//evil>x</a></svg>", ""],
  ])("sanitizes %s", (html, clean) => {
    expect(sanitize(html), "only text formatting should remain").toBe(clean);
  });

  test("keeps text formatting", () => {
    const html =
      '<p>a <strong>b</strong></p><table><tbody><tr><td align="right">1</td></tr></tbody></table>';
    expect(sanitize(html), "the formatting should be unchanged").toBe(html);
    const picture = `<img src="${PIXEL}" alt="x">`;
    expect(sanitize(picture), "data URLs of pictures should be unchanged").toBe(picture);
    expect(
      sanitize('<img src="data:image/png;base64,AAAA" alt="x">'),
      "an invalid picture should be replaced by its text",
    ).toBe("x");
    expect(
      sanitize('<img src="data:image/svg+xml;base64,PHN2Zy8+" alt="x">'),
      "a vector picture should be replaced by its text",
    ).toBe("x");
  });
});

describe("Markdown", () => {
  // [prompts-validate-io]
  test("formats text, renders HTML as text and names remote pictures", () => {
    const { container } = render(Markdown, {
      text: '# Hi\n\n*a* <b onclick="x">b</b>\n\n![cat](https://evil.example/cat.png)\n\n<div>block</div>',
    });
    expect(container.querySelector("h1"), "the heading should be rendered").toHaveTextContent("Hi");
    expect(container.querySelector("em"), "the emphasis should be rendered").toHaveTextContent("a");
    expect(container.querySelector("b"), "HTML should not be rendered as markup").toBeNull();
    expect(container.textContent, "HTML should be shown as text").toContain('<b onclick="x">b</b>');
    expect(container.textContent, "blocks of HTML should be shown as text").toContain(
      "<div>block</div>",
    );
    expect(container.querySelector("img"), "no picture should be fetched").toBeNull();
    expect(container.textContent, "the text of the picture should be shown").toContain("cat");
  });

  test("opens the link dialog before a link", async () => {
    render(Markdown, { text: "[click](https://example.com/a)" });
    const words = screen.getByRole("link", { name: "click" });
    expect(
      words,
      "X17: the link should have no address that the browser follows",
    ).not.toHaveAttribute("href");
    await userEvent.click(words);
    expect(pendingLink.url, "the URL should be pending").toBe("https://example.com/a");
    pendingLink.close();
    words.focus();
    await userEvent.keyboard("{Enter}");
    expect(pendingLink.url, "Enter should open the dialog, too").toBe("https://example.com/a");
  });

  test("has a copy button for code and names hidden characters", () => {
    const { container } = render(Markdown, { text: "```\nrm \u202e-rf\n```" });
    expect(container.querySelector("pre"), "hidden characters should be named").toHaveTextContent(
      "rm [U+202E]-rf",
    );
    expect(
      screen.getByRole("button", { name: "Copy" }),
      "the code should have a copy button",
    ).toBeVisible();
  });

  test("X20: shows deeply nested and very long texts as source", async () => {
    for (const text of [
      "> ".repeat(10_000) + "x",
      "- ".repeat(4_000) + "x",
      Array.from({ length: 200 }, (_, i) => `${" ".repeat(i * 2)}- x`).join("\n"),
      "*a ".repeat(2_000),
      "[".repeat(5_000),
    ]) {
      const { container, unmount } = render(Markdown, { text });
      expect(container.querySelector(".raw"), text.slice(0, 20)).not.toBeNull();
      unmount();
    }
    for (const text of ["---", "*".repeat(80), "a | b\n--|--\n1 | 2", "> > a\n\n- b\n  - c"]) {
      const { container, unmount } = render(Markdown, { text });
      expect(container.querySelector(".raw"), `${text} should be formatted`).toBeNull();
      unmount();
    }
    const { container } = render(Markdown, { text: "word *x* ".repeat(10_000) });
    expect(container.querySelector("em"), "the beginning should be formatted").not.toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Show all" }));
    expect(container.querySelector("em"), "the whole text should not be formatted").toBeNull();
    expect(screen.getByText("Part 1 of 2"), "the text should be split into parts").toBeVisible();
  });

  test("renders all words that a model receives", () => {
    for (const text of [
      "[//]: # (secret words)",
      "a\n\n[a]: https://x.test 'secret words'\n[a]: https://x.test 'secret words'",
      "> [a]: <secret words>",
      "| a |\n| - |\n| 1 | secret words |",
      "> | a |\n> | - |\n> | 1 | secret words |",
      "```js secret words\nx\n```",
      "- ```secret words\n  x\n  ```",
      "[x](<javascript:secret words>)",
      "[x](https://x.test 'secret words')",
      "[](<https://x.test/secret words>)",
      "[**`` ` ``**](<x:secret words>)",
      "![x](https://x.test/a.png 'secret words')",
      "![x](<https://x.test/secret words>)",
      `![secret words](${PIXEL})`,
      `![x](${PIXEL} "secret words")`,
      "<!-- secret words -->",
      "<pre>\n<b title='secret words'></b>\n</pre>",
      "~~~\n<!-- secret words\n~~~",
    ]) {
      const { container, unmount } = render(Markdown, { text });
      expect(container.textContent, text).toContain("secret words");
      unmount();
    }
  });

  test("renders character references as text", () => {
    for (const name of ["&#x202e;", "&#xe0041;", "&ZeroWidthSpace;", "&amp;", "&lt;b&gt;"]) {
      for (const text of [
        name,
        `*${name}*`,
        `# ${name}`,
        `\`${name}\``,
        `[${name}](https://x.test)`,
        `[x](https://x.test "${name}")`,
        `![${name}](https://x.test)`,
        `<pre>${name}</pre>`,
        `a | b\n--|--\n${name} | 2`,
      ]) {
        const { container, unmount } = render(Markdown, { text });
        expect(container.textContent, `X10, X12: ${text} should be shown as ${name}`).toContain(
          name,
        );
        const attributes = Array.from(container.querySelectorAll("*"), (element) =>
          Array.from(element.attributes, (attribute) => attribute.value),
        );
        expect(
          attributes.flat().join(""),
          `X10, X12: no attribute of ${text} should contain hidden characters`,
        ).not.toMatch(/[\u202e\u200b\u{e0041}]/u);
        unmount();
      }
    }
  });

  test("offers no source view for plain text", () => {
    render(Markdown, { text: 'Plain words & "more", 1 < 2.' });
    expect(screen.queryByRole("button"), "there should be no button").toBeNull();
  });

  test.each([
    ["short", "*a* b"],
    ["long", `*a* ${"b ".repeat(5_000)}`],
  ])("shows the source of a %s text", async (_, text) => {
    const { container } = render(Markdown, { text });
    await userEvent.click(screen.getByRole("button", { name: "Show as written" }));
    expect(container.textContent, "the marks should be shown").toContain("*a*");
  });

  test("folds long text", async () => {
    const { container } = render(Markdown, { text: "word ".repeat(5000) });
    expect(container.textContent?.length, "only the beginning should be shown").toBeLessThan(9000);
    await userEvent.click(screen.getByRole("button", { name: "Show all" }));
    expect(container.textContent?.length, "the whole text should be shown").toBeGreaterThan(24_000);
  });
});

describe("text from a server", () => {
  test("is plain text with hidden characters named and a bound", async () => {
    const { container } = render(Untrusted, { text: `<b>x</b>\u202e${"y".repeat(2000)}` });
    expect(container.querySelector("b"), "no markup should be rendered").toBeNull();
    expect(container.textContent, "hidden characters should be named").toContain("U+202E");
    expect(container.textContent?.length, "the length should be bounded").toBeLessThan(700);
    await userEvent.click(screen.getByRole("button", { name: "Show all" }));
    expect(container.textContent?.length, "the whole text should be shown").toBeGreaterThan(2000);
  });

  test("indicates omitted text on a single line", () => {
    for (const text of ["send_mail\nand delete everything", `send_mail${"x".repeat(500)}`]) {
      const { container, unmount } = render(Untrusted, { text, inline: true });
      expect(
        container.textContent,
        `${text.slice(0, 12)}: the text should end with an ellipsis`,
      ).toMatch(/…$/);
      unmount();
    }
    const { container } = render(Untrusted, { text: "send_mail", inline: true });
    expect(container.textContent, "the text should not be shortened").toBe("send_mail");
  });

  test("can't push lines out of view", () => {
    const { container } = render(Untrusted, { text: "\n".repeat(500) + "end" });
    expect(
      container.textContent,
      "X14: the line breaks should be counted, and the end shown",
    ).toContain("↵×500end");
  });
});

describe("a content block", () => {
  test("renders every type", async () => {
    const opened: string[] = [];
    const onopen = (uri: string) => opened.push(uri);
    const { rerender, container } = render(ContentView, {
      content: { type: "image", data: PIXEL.slice(PNG.length), mimeType: "image/png" },
      onopen,
    });
    expect(screen.getByRole("img"), "a picture should be rendered as a data URL").toHaveAttribute(
      "src",
      PIXEL,
    );
    await rerender({ content: { type: "image", data: "AAAA", mimeType: "text/html" } });
    expect(
      screen.queryByRole("img"),
      "another type declared as a picture should not be rendered",
    ).toBeNull();
    await rerender({
      content: { type: "audio", data: "UklGRiQAAABXQVZFZm10IA==", mimeType: "audio/wav" },
    });
    expect(
      container.querySelector("audio"),
      "a sound should be rendered as a data URL",
    ).toHaveAttribute("src", "data:audio/wav;base64,UklGRiQAAABXQVZFZm10IA==");
    await rerender({
      content: {
        type: "resource_link",
        uri: "file:///a",
        name: "a",
        title: null,
        description: null,
        mimeType: null,
        size: 2149,
      },
    });
    await userEvent.click(screen.getByRole("button", { name: "Open" }));
    expect(opened, "a link should open the resource of the same server").toEqual(["file:///a"]);
    expect(screen.getByText("2.1 kB"), "the size should be shown").toHaveAttribute(
      "title",
      "2,149 B",
    );
    await rerender({
      content: {
        type: "resource",
        contents: { uri: "a://b", mimeType: "text/plain", text: "hello", blob: null },
      },
    });
    expect(screen.getByText("hello"), "the text of a resource should be shown").toBeVisible();
    await rerender({ content: { type: "unknown", json: { type: "hologram" } } });
    expect(screen.getByText('"hologram"'), "unknown content should be shown as JSON").toBeVisible();
  });
});

describe("JSON", () => {
  test("renders a tree that expands a page at a time", async () => {
    render(JsonView, { value: { list: Array.from({ length: 250 }, (_, i) => `n${i}`) }, open: 1 });
    const list = screen.getByRole("button", { name: /list/ });
    expect(list, "nested values should be collapsed").toHaveAttribute("aria-expanded", "false");
    await userEvent.click(list);
    expect(screen.queryByText(`"n99"`), "the first hundred items should be shown").toBeVisible();
    expect(screen.queryByText(`"n100"`), "further items should be hidden").toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Show 150 more" }));
    expect(screen.queryByText(`"n199"`), "the next hundred items should be shown").toBeVisible();
  });

  test("shows long keys completely on request", async () => {
    for (const value of ["leaf", { a: 1 }]) {
      const { container, unmount } = render(JsonView, {
        value: { [`path\nand delete everything ${"x".repeat(300)}END`]: value },
      });
      expect(container.textContent, "more than the first line should be shown").toContain(
        "and delete everything",
      );
      await userEvent.click(screen.getByRole("button", { name: "Show all" }));
      expect(container.textContent, "the whole key should be shown").toContain("xEND");
      unmount();
    }
  });

  test("reports the position of an error", async () => {
    const values: unknown[] = [];
    render(JsonEditor, {
      label: "Arguments",
      text: "{}",
      object: true,
      onchange: (value: unknown) => values.push(value),
    });
    const field = screen.getByRole("textbox", { name: "Arguments" });
    await userEvent.clear(field);
    await userEvent.type(field, "[[1]");
    expect(
      screen.getByText("Enter a JSON object: { … }"),
      "a list should be rejected",
    ).toBeVisible();
    await userEvent.type(field, "]");
    expect(
      screen.getByText("Not valid JSON: line 1, column 4"),
      "the position of the error should be shown",
    ).toBeVisible();
    expect(field, "the field should be marked as invalid").toBeInvalid();
    await userEvent.clear(field);
    await userEvent.type(field, '{{"a": 1}');
    expect(values.at(-1), "the valid value should be reported").toEqual({ value: { a: 1 } });
    expect(field, "the field should be valid again").not.toBeInvalid();
  });
});

describe("a link", () => {
  test("shows the parts and warnings of its URL before it opens", async () => {
    const host = await startFakeHost({
      parse_url: ({ url }) => ({
        url,
        before: "http://",
        domain: "example.com",
        after: "/path",
        asciiHost: null,
        warnings: ["not_encrypted"],
        openable: true,
      }),
    });
    // The delay in `LinkDialog.svelte`.
    const timers = holdTimers(500);
    render(LinkDialog);
    pendingLink.show("http://example.com/path");
    expect(
      await screen.findByText("example.com"),
      "the domain should be shown separately",
    ).toBeVisible();
    expect(screen.getByText(/not encrypted/), "the warning should be shown").toBeVisible();
    expect(host.requests("open_url"), "the URL should not be opened yet").toEqual([]);
    const open = screen.getByRole("button", { name: "Open in the browser" });
    expect(open, "the button should be disabled at first").toBeDisabled();
    timers.release();
    await waitFor(() => expect(open, "the button should be enabled after a moment").toBeEnabled());
    await userEvent.click(open);
    expect(host.requests("open_url"), "the URL should be opened once").toEqual([
      { url: "http://example.com/path" },
    ]);
    expect(pendingLink.url, "the dialog should be closed").toBeNull();
  });

  test("can't be opened if opening is not allowed", async () => {
    await startFakeHost({
      parse_url: ({ url }) => ({
        url,
        before: "",
        domain: url,
        after: "",
        asciiHost: null,
        warnings: ["not_allowed"],
        openable: false,
      }),
    });
    render(LinkDialog);
    pendingLink.show("mailto:a@example.com");
    await screen.findByText(/does not open/);
    expect(screen.getByRole("button", { name: "Open in the browser" })).toBeDisabled();
  });
});
