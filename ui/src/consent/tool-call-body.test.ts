// The request of a tool call as the user first sees it.
import { screen, within } from "@testing-library/svelte";
import { flushSync } from "svelte";
import { describe, expect, it } from "vitest";

import { NO_MARKS } from "../review/review-labels";
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
  renderRequests,
} from "./test-harness.svelte";

installFakeHostForEachTest();

const frame = () => within(screen.getByTestId("question"));
const title = () =>
  frame().getByRole("heading", { level: 2 }).textContent?.replace(/\s+/g, " ").trim();

describe("the request of a tool", () => {
  it("E8: the title says what is run where, and whose idea it was", () => {
    const { set } = renderRequests(
      consentRequest(toolBody({ path: "/x" }), { why: { by: "user", conversation: null } }),
    );
    expect(title()).toBe("Run write_file on files?");
    const heading = frame().getByRole("heading", { level: 2 });
    expect(heading.parentElement, "next to it").toHaveTextContent("You asked.");
    expect(frame().getAllByText("You asked."), "and nowhere else").toHaveLength(1);
    const model = { by: "model" as const, conversation: "c9", after: [] };
    flushSync(() => set(consentRequest(toolBody({ path: "/x" }), { why: model, hash: "h1b" })));
    expect(heading.parentElement).toHaveTextContent("The model asked.");
    const read = { kind: "read", name: "greet", arguments: {} } as const;
    flushSync(() => set(consentRequest({ ...read, what: "prompt" }, { hash: "h2" })));
    expect(title(), "a server does not want its prompt").toBe("Get prompt greet from files?");
    flushSync(() =>
      set(consentRequest({ ...read, what: "resource", name: "file:///a" }, { hash: "h3" })),
    );
    expect(title(), "nor its resource").toBe("Read file:///a from files?");
  });

  it("E8: a name can't pass for words where the title is read out", () => {
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
      expect(marked.className, `${claim} has the color of a warning`).toContain("warn");
      expect(marked.querySelector("svg"), "and an icon").not.toBeNull();
    }
    expect(frame().queryByText(/not stated by the server/), "nothing is assumed").toBeNull();
  });

  it("E8: a tool without annotations has the effects that MCP assumes, without a warning", () => {
    const claims = { readOnly: null, destructive: null, idempotent: null, openWorld: null };
    renderRequests(consentRequest({ ...toolBody({ path: "/x" }), claims } as never));
    const assumed = frame().getByText(
      "May delete or overwrite data (not stated by the server). May reach other systems (not stated by the server).",
    );
    expect(assumed.className, "it is quieter than a stated effect").not.toContain("warn");
    expect(assumed.querySelector("svg")).toBeNull();
    expect(frame().queryByText("Makes changes"), "the server made no claim").toBeNull();
  });

  it("E8: a read-only tool is not assumed to be destructive", () => {
    const claims = { readOnly: true, destructive: null, idempotent: null, openWorld: false };
    renderRequests(consentRequest({ ...toolBody({ path: "/x" }), claims } as never));
    expect(frame().getByText("Read-only")).toBeInTheDocument();
    expect(frame().getByText("Local only").className).not.toContain("warn");
    expect(frame().queryByText(/not stated by the server/)).toBeNull();
  });

  it("E2: the payload stands before the description, and the definition last", () => {
    const description = "Writes a file.\nClick Allow to go on!";
    const definition = '{\n  "name": "write_file"\n}';
    const body = { ...toolBody({ path: "/x" }), description, definition };
    renderRequests(consentRequest(body, { marks: { ...NO_MARKS, review: "new" } }));
    const text = screen.getByTestId("question").textContent ?? "";
    const places = ["Sends to files", "Click Allow to go on", "Full definition"].map((part) =>
      text.indexOf(part),
    );
    expect(places, "all are there").not.toContain(-1);
    expect(places, "in this order").toEqual([...places].sort((a, b) => a - b));
  });

  it("a short description is shown once, within the definition of an unreviewed tool", () => {
    const description = "Writes a file.";
    const body = { ...toolBody({ path: "/x" }), description };
    const { set } = renderRequests(consentRequest(body));
    expect(frame().getAllByText(description), "quoted for a reviewed tool").toHaveLength(1);
    const definition = JSON.stringify({ name: "write_file", description });
    const unreviewed = { ...body, definition };
    flushSync(() => set(consentRequest(unreviewed, { hash: "h2" })));
    const text = screen.getByTestId("question").textContent ?? "";
    expect(text.split(description), "in the definition only").toHaveLength(2);
    expect(text.indexOf(description)).toBeGreaterThan(text.indexOf("Full definition"));
  });

  it("E2: that nobody reviewed the tool stands at the top, and whether it is new or changed below", () => {
    const body = { ...toolBody({ path: "/x" }), definition: '{\n  "name": "write_file"\n}' };
    const { set } = renderRequests(consentRequest(body, { marks: { ...NO_MARKS, review: "new" } }));
    const text = () => screen.getByTestId("question").textContent ?? "";
    const place = text().indexOf("You have not reviewed this tool yet.");
    expect(place, "it is said").not.toBe(-1);
    expect(place, "before what is sent").toBeLessThan(text().indexOf("Sends to files"));
    expect(text()).toContain("Full definition, new to you.");
    flushSync(() =>
      set(consentRequest(body, { hash: "h2", marks: { ...NO_MARKS, review: "changed" } })),
    );
    expect(text(), "you saw it before").toContain("Full definition, changed since your review.");
    expect(text()).not.toContain("new to you");
  });

  it("E2: a value of some kilobytes is shown whole", async () => {
    const content = Array.from({ length: 60 }, (_, i) => `line ${i} ${"x".repeat(40)}`).join("\n");
    renderRequests(consentRequest(toolBody({ content })));
    await waitUntilArmed();
    expect(frame().getByText(/line 59/), "to its end").toBeInTheDocument();
    expect(isButtonBlocked("Allow once"), "nothing has to be opened").toBe(false);
  });

  it("E2: the data of an icon is a size, and nothing else of a definition is shortened", () => {
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
    expect(text.split(data), "what a model gets, and what is no base64, stays").toHaveLength(3);
    const body = { ...toolBody({}), definition: JSON.stringify(written, null, 2) } as never;
    expect(definitionPart(body)?.text, "and is what has to be read").toBe(text);
  });

  it("E26: the beginning of the hash that is decided on is shown", async () => {
    const hash = "3f2a9c1b".padEnd(64, "0");
    renderRequests(consentRequest(toolBody({ path: "/x" }), { hash }));
    const short = frame().getByText("Hash: 3f2a9c1b");
    const whole = frame().getByText(new RegExp(hash));
    expect(whole, "and all of it once it is opened").not.toBeVisible();
    await clickElement(short);
    expect(whole).toBeVisible();
    expect(short.tagName, "also by keyboard").toBe("SUMMARY");
  });

  it("E25: what was edited is shown against what was asked for, and Deny has the focus", async () => {
    const before = consentRequest(toolBody({ path: "/a", mode: "w" }));
    const after = consentRequest(toolBody({ path: "/b", force: true }), { hash: "h2" });
    host.handlers.edit_question = () => after;
    renderRequests(before);
    await waitUntilArmed();
    await clickElement(button("Edit the arguments"));
    await clickElement(button("Use these changes"));
    const text = screen.getByTestId("question").textContent?.replace(/\s+/g, " ") ?? "";
    expect(text, "the value before").toMatch(/Requested: ?\/a/);
    expect(text, "one that was added").toContain("Requested: nothing");
    expect(text, "one that was taken out").toMatch(/Removed by you: ?mode: w/);
    expect(text, "its kind is no other").not.toMatch(/Requested: ?\/a ?text/);
    expect(document.activeElement, "the focus is not lost").toBe(button("Deny"));
  });

  it("E25: an empty value and another kind are shown", async () => {
    const before = consentRequest(toolBody({ path: "", count: 1 }));
    host.handlers.edit_question = () =>
      consentRequest(toolBody({ path: "/b", count: "1" }), { hash: "h2" });
    renderRequests(before);
    await waitUntilArmed();
    await clickElement(button("Edit the arguments"));
    await clickElement(button("Use these changes"));
    const text = screen.getByTestId("question").textContent?.replace(/\s+/g, " ") ?? "";
    expect(text, "there was nothing in it").toMatch(/Requested: ?empty/);
    expect(text, "a number became text").toMatch(/Requested: ?number ?1/);
  });
});
