// The request of a tool call as it is first shown to the user.
import { screen, within } from "@testing-library/svelte";
import { flushSync } from "svelte";
import { describe, expect, it, vi } from "vitest";

import { NO_REVIEW_MARKS } from "../review/review-labels";
import { definitionPart } from "./payload";
import { elideIconData } from "./tool-definition";
import { consentRequest, toolBody } from "./fixtures";
import { titleLabel } from "./consent-labels";
import {
  waitUntilArmed,
  isButtonBlocked,
  button,
  clickElement,
  installFakeHostForEachTest,
  host,
  pressKey,
  renderRequests,
  sentDecisions,
} from "./test-harness.svelte";

installFakeHostForEachTest();

const frame = () => within(screen.getByTestId("consent-request"));
const title = () =>
  frame().getByRole("heading", { level: 2 }).textContent?.replace(/\s+/g, " ").trim();

describe("the request of a tool", () => {
  it("E8: the title names the tool and the server, and the origin of the call", () => {
    const { set } = renderRequests(
      consentRequest(toolBody({ path: "/x" }), { origin: { by: "user", conversation: null } }),
    );
    expect(title()).toBe("Run write_file on files?");
    const heading = frame().getByRole("heading", { level: 2 });
    expect(heading.parentElement, "the origin should be next to the title").toHaveTextContent(
      "You asked.",
    );
    expect(frame().getAllByText("You asked."), "the origin should be shown once").toHaveLength(1);
    const model = { by: "model" as const, conversation: "c9", untrustedServers: [] };
    flushSync(() => set(consentRequest(toolBody({ path: "/x" }), { origin: model, hash: "h1b" })));
    expect(heading.parentElement).toHaveTextContent("The model asked.");
    const read = { kind: "read", name: "greet", arguments: {} } as const;
    flushSync(() => set(consentRequest({ ...read, callKind: "prompt" }, { hash: "h2" })));
    expect(title(), "the title should describe a prompt").toBe("Get prompt greet from files?");
    flushSync(() =>
      set(consentRequest({ ...read, callKind: "resource", name: "file:///a" }, { hash: "h3" })),
    );
    expect(title(), "the title should describe a resource").toBe("Read file:///a from files?");
  });

  it("E8: the title and the arguments name the app that receives the call instead of the server", () => {
    const body = { ...toolBody({ path: "/x" }), app: "show", definition: '{"name":"write_file"}' };
    const request = consentRequest(body);
    renderRequests(request);
    expect(title()).toBe("Run write_file of the app of show on files?");
    expect(titleLabel(request)).toBe("Run “write_file” of the app of “show” on “files”?");
    expect(frame().getByText("Sends to the app of show on files:")).toBeVisible();
    expect(frame().getByText(/Full definition by the app/)).toBeVisible();
  });

  it("E8: the accessible title distinguishes a name from other words", () => {
    const name = 'add” on “files“? "You asked.';
    const hostile = consentRequest({ ...toolBody({}), tool: name } as never);
    expect(titleLabel(hostile)).toBe("Run “add' on 'files'? 'You asked.” on “files”?");
    const plain = consentRequest({ ...toolBody({}), tool: "add on files? You asked." } as never);
    expect(titleLabel(plain)).toBe("Run “add on files? You asked.” on “files”?");
  });

  it("E8: stated destructive and open-world effects are marked", () => {
    const claims = { readOnly: false, destructive: true, idempotent: null, openWorld: true };
    renderRequests(consentRequest({ ...toolBody({ path: "/x" }), claims } as never));
    for (const claim of ["Destructive", "External access"]) {
      const marked = frame().getByText(claim);
      expect(marked.className, `${claim} should have the color of a warning`).toContain("warn");
      expect(marked.querySelector("svg"), `${claim} should have an icon`).not.toBeNull();
    }
    expect(
      frame().queryByText(/not stated by the server/),
      "no effect should be assumed",
    ).toBeNull();
  });

  it("E8: a tool without annotations has the effects that MCP assumes, without a warning", () => {
    const claims = { readOnly: null, destructive: null, idempotent: null, openWorld: null };
    renderRequests(consentRequest({ ...toolBody({ path: "/x" }), claims } as never));
    const assumed = frame().getByText(
      "May delete or overwrite data (not stated by the server). May reach other systems (not stated by the server).",
    );
    expect(assumed.className, "an assumed effect should be less prominent").not.toContain("warn");
    expect(assumed.querySelector("svg")).toBeNull();
    expect(
      frame().queryByText("Makes changes"),
      "the default should not be shown as a claim",
    ).toBeNull();
  });

  it("E8: a read-only tool is not assumed to be destructive", () => {
    const claims = { readOnly: true, destructive: null, idempotent: null, openWorld: false };
    renderRequests(consentRequest({ ...toolBody({ path: "/x" }), claims } as never));
    expect(frame().getByText("Read-only")).toBeInTheDocument();
    expect(frame().getByText("Local only").className).not.toContain("warn");
    expect(frame().queryByText(/not stated by the server/)).toBeNull();
  });

  it("E2: the payload precedes the description, and the definition is last", () => {
    const description = "Writes a file.\nClick Allow to go on!";
    const definition = '{\n  "name": "write_file"\n}';
    const body = { ...toolBody({ path: "/x" }), description, definition };
    renderRequests(consentRequest(body, { marks: { ...NO_REVIEW_MARKS, review: "new" } }));
    const text = screen.getByTestId("consent-request").textContent ?? "";
    const places = ["Sends to files", "Click Allow to go on", "Full definition"].map((part) =>
      text.indexOf(part),
    );
    expect(places, "all parts should be present").not.toContain(-1);
    expect(places, "the parts should be in this order").toEqual([...places].sort((a, b) => a - b));
  });

  it("a short description is shown once, within the definition of an unreviewed tool", () => {
    const description = "Writes a file.";
    const body = { ...toolBody({ path: "/x" }), description };
    const { set } = renderRequests(consentRequest(body));
    expect(
      frame().getAllByText(description),
      "the description of a reviewed tool should be quoted",
    ).toHaveLength(1);
    const definition = JSON.stringify({ name: "write_file", description });
    const unreviewed = { ...body, definition };
    flushSync(() => set(consentRequest(unreviewed, { hash: "h2" })));
    const text = screen.getByTestId("consent-request").textContent ?? "";
    expect(
      text.split(description),
      "the description of an unreviewed tool should be in the definition only",
    ).toHaveLength(2);
    expect(text.indexOf(description)).toBeGreaterThan(text.indexOf("Full definition"));
  });

  it("E2: an unreviewed tool is marked at the top, and below as new or changed", () => {
    const body = { ...toolBody({ path: "/x" }), definition: '{\n  "name": "write_file"\n}' };
    const { set } = renderRequests(
      consentRequest(body, { marks: { ...NO_REVIEW_MARKS, review: "new" } }),
    );
    const text = () => screen.getByTestId("consent-request").textContent ?? "";
    const place = text().indexOf("You have not reviewed this tool yet.");
    expect(place, "the mark should be present").not.toBe(-1);
    expect(place, "the mark should precede the payload").toBeLessThan(
      text().indexOf("Sends to files"),
    );
    expect(text()).toContain("Full definition, new to you.");
    flushSync(() =>
      set(consentRequest(body, { hash: "h2", marks: { ...NO_REVIEW_MARKS, review: "changed" } })),
    );
    expect(text(), "a changed definition should be marked").toContain(
      "Full definition, changed since your review.",
    );
    expect(text()).not.toContain("new to you");
  });

  it("E2: the definition of a reviewed tool is folded to one line and need not be opened", async () => {
    const definition = '{\n  "name": "write_file",\n  "inputSchema": { "type": "object" }\n}';
    const body = {
      ...toolBody({ path: "/x" }),
      reviewedDefinition: definition,
      definitionHash: "9b1c".padEnd(64, "0"),
    };
    const marks = { ...NO_REVIEW_MARKS, review: "reviewed" as const };
    const { set } = renderRequests(consentRequest(body, { marks }));
    await waitUntilArmed();
    const line = () => frame().queryByText(/Definition reviewed, unchanged/);
    expect(line(), "its hash should be beside it").toHaveTextContent("9b1c0000");
    expect(frame().queryByText(/inputSchema/), "it should be folded").toBeNull();
    expect(isButtonBlocked("Allow once"), "nothing should have to be opened").toBe(false);
    await clickElement(line() as HTMLElement);
    expect(frame().getByText(/"inputSchema": \{ "type": "object" \}/)).toBeVisible();
    const outdated = consentRequest(body, { hash: "h2", marks: { ...marks, outdated: true } });
    flushSync(() => set(outdated));
    expect(line(), "a definition that may have changed is not called unchanged").toBeNull();
  });

  it("E2: a reviewed definition that changed since the tool was allowed can be opened, and says so", async () => {
    const body = {
      ...toolBody({ path: "/x" }),
      changedSinceAllowed: true,
      reviewedDefinition: '{\n  "name": "write_file",\n  "inputSchema": { "type": "object" }\n}',
      definitionHash: "9b1c".padEnd(64, "0"),
    };
    const marks = { ...NO_REVIEW_MARKS, review: "reviewed" as const };
    renderRequests(consentRequest(body, { marks }));
    const line = frame().getByText(/Definition reviewed; changed since it was allowed/);
    expect(line, "its hash should be beside it").toHaveTextContent("9b1c0000");
    expect(frame().queryByText(/Definition reviewed, unchanged/)).toBeNull();
    expect(frame().queryByText(/inputSchema/), "it should be folded").toBeNull();
    await clickElement(line);
    expect(frame().getByText(/"inputSchema": \{ "type": "object" \}/)).toBeVisible();
  });

  it("E2: a value of some kilobytes is shown completely", async () => {
    const content = Array.from({ length: 60 }, (_, i) => `line ${i} ${"x".repeat(40)}`).join("\n");
    renderRequests(consentRequest(toolBody({ content })));
    await waitUntilArmed();
    expect(
      frame().getByText(/line 59/),
      "the value should be shown to its end",
    ).toBeInTheDocument();
    expect(isButtonBlocked("Allow once"), "nothing should have to be expanded").toBe(false);
  });

  it("E2: the data of an icon is shown as its size, and nothing else of a definition is shortened", () => {
    const data = "QUJD".repeat(300);
    const written = {
      name: "add",
      inputSchema: { default: { src: `data:image/png;base64,${data}` } },
      icons: [
        { src: `data:image/svg+xml;base64,${data}` },
        { src: `data:image/png;base64,${data}!` },
      ],
    };
    const text = elideIconData(JSON.stringify(written, null, 2));
    expect(text).toContain('"data:image/svg+xml;base64,…" (icon, 900 B)');
    expect(text.split(data), "other data should be unchanged").toHaveLength(3);
    const body = { ...toolBody({}), definition: JSON.stringify(written, null, 2) } as never;
    expect(definitionPart(body)?.text, "the shown definition should be the one to read").toBe(text);
  });

  it("the lines of icons are joined if they fit into one", () => {
    const icon = { src: `data:image/png;base64,${"QUJD".repeat(100)}`, sizes: ["48x48"] };
    const linesOf = (icons: object[]) => elideIconData(written(icons)).split("\n");
    const written = (icons: object[]) =>
      JSON.stringify({ name: "add", icons, title: "Add" }, null, 2);
    const short = `{ "src": "data:image/png;base64,…" (icon, 300 B), "sizes": [ "48x48" ] }`;
    expect(linesOf([icon]), "all icons should share a line").toEqual([
      ...["{", '  "name": "add",', `  "icons": [ ${short} ],`, '  "title": "Add"', "}"],
    ]);
    expect(linesOf([icon, icon]), "each icon should have a line").toEqual([
      ...["{", '  "name": "add",', '  "icons": [', `    ${short},`, `    ${short}`, "  ],"],
      ...['  "title": "Add"', "}"],
    ]);
    const long = [{ ...icon, mimeType: "x".repeat(200) }];
    const data = new RegExp(icon.src.slice("data:image/png;base64,".length), "g");
    expect(linesOf(long).join("\n"), "a long icon should keep its lines").toBe(
      written(long).replace(data, "…").replace('…"', '…" (icon, 300 B)'),
    );
    const address = [{ src: "https://example.org/a.png" }];
    expect(linesOf(address).join("\n"), "an address should be unchanged").toBe(written(address));
  });

  it("E2: only a request with a definition is wide", () => {
    const body = toolBody({ path: "/x" });
    const { set } = renderRequests(consentRequest(body));
    const isWide = () => screen.getByTestId("consent-request").classList.contains("wide");
    expect(isWide(), "a reviewed tool has short lines").toBe(false);
    const unreviewed = { ...body, definition: '{\n  "name": "write_file"\n}' };
    flushSync(() => set(consentRequest(unreviewed, { hash: "h2" })));
    expect(isWide(), "a definition has long lines").toBe(true);
  });

  it("E26: the beginning of the hash of the request is shown", async () => {
    const hash = "3f2a9c1b".padEnd(64, "0");
    renderRequests(consentRequest(toolBody({ path: "/x" }), { hash }));
    const short = frame().getByText("Hash: 3f2a9c1b");
    const whole = frame().getByText(new RegExp(hash));
    expect(whole, "the whole hash should be collapsed").not.toBeVisible();
    await clickElement(short);
    expect(whole).toBeVisible();
    expect(short.tagName, "the hash should be expandable by keyboard").toBe("SUMMARY");
  });

  it("E25: edited arguments are shown next to the requested ones, and Deny is focused", async () => {
    const before = consentRequest(toolBody({ path: "/a", mode: "w" }));
    const after = consentRequest(toolBody({ path: "/b", force: true }), { hash: "h2" });
    host.handlers.edit_consent_request = () => after;
    renderRequests(before);
    await waitUntilArmed();
    await clickElement(button("Edit the arguments"));
    await clickElement(button("Use these changes"));
    const text = screen.getByTestId("consent-request").textContent?.replace(/\s+/g, " ") ?? "";
    expect(text, "the previous value should be shown").toMatch(/Requested: ?\/a/);
    expect(text, "an added value should be marked").toContain("Requested: nothing");
    expect(text, "a removed value should be marked").toMatch(/Removed by you: ?mode: w/);
    expect(text, "an unchanged type should not be shown").not.toMatch(/Requested: ?\/a ?text/);
    expect(document.activeElement, "Deny should be focused").toBe(button("Deny"));
  });

  it("E25: editing focuses the first field, but not while the user is in another one", async () => {
    const { controller } = renderRequests(consentRequest(toolBody({ path: "/a" })));
    await waitUntilArmed();
    await clickElement(button("Edit the arguments"));
    expect(screen.getByDisplayValue("/a"), "the field should be focused").toHaveFocus();
    await clickElement(button("Discard the changes"));
    const other = document.createElement("textarea");
    document.querySelector(".consent-dialog")?.append(other);
    other.focus();
    if (controller.draft) controller.draft.editing = true;
    await vi.advanceTimersByTimeAsync(0);
    expect(screen.getByDisplayValue("/a")).toBeInTheDocument();
    expect(other, "the field should keep the focus").toHaveFocus();
  });

  it.each([
    ["Enter in a field", {}],
    ["Ctrl+Enter", { ctrlKey: true }],
  ])("E25: %s uses the changed arguments", async (_, more) => {
    const edits = () => host.sent.filter(([name]) => name === "edit_consent_request").length;
    host.handlers.edit_consent_request = () => consentRequest(toolBody({ path: "/b" }));
    renderRequests(consentRequest(toolBody({ path: "/a" })));
    await waitUntilArmed();
    await clickElement(button("Edit the arguments"));
    const field = screen.getByDisplayValue("/a");
    await pressKey("Enter", field, { isComposing: true });
    expect(edits(), "an Enter of an input method should change nothing").toBe(0);
    await pressKey("Enter", field, more);
    expect(edits(), "the changes should be used").toBe(1);
    expect(sentDecisions(), "nothing should be decided").toEqual([]);
  });

  it("E25: an empty value and another type are shown", async () => {
    const before = consentRequest(toolBody({ path: "", count: 1 }));
    host.handlers.edit_consent_request = () =>
      consentRequest(toolBody({ path: "/b", count: "1" }), { hash: "h2" });
    renderRequests(before);
    await waitUntilArmed();
    await clickElement(button("Edit the arguments"));
    await clickElement(button("Use these changes"));
    const text = screen.getByTestId("consent-request").textContent?.replace(/\s+/g, " ") ?? "";
    expect(text, "an empty value should be shown").toMatch(/Requested: ?empty/);
    expect(text, "the changed type should be shown").toMatch(/Requested: ?number ?1/);
  });
});
