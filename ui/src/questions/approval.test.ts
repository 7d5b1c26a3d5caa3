// What a first look at the request of a tool tells.
import { screen, within } from "@testing-library/svelte";
import { describe, expect, it } from "vitest";

import { NO_MARKS } from "../review/words";
import { definitionPart } from "./crossing";
import { withoutIcons } from "./definition";
import { question, tool } from "./fixtures";
import { arm, blocked, button, click, eachWithHost, host, show } from "./harness.svelte";

eachWithHost();

const frame = () => within(screen.getByTestId("question"));
const title = () =>
  frame().getByRole("heading", { level: 2 }).textContent?.replace(/\s+/g, " ").trim();

describe("the request of a tool", () => {
  it("E8: the title says what is run where, and the line below whose idea it was", () => {
    const { set } = show(
      question(tool({ path: "/x" }), { why: { by: "user", conversation: null } }),
    );
    expect(title()).toBe("Run write_file on files?");
    expect(frame().getByText("You asked."), "the user's own idea").toBeInTheDocument();
    set(question(tool({ path: "/y" }), { why: { by: "user", conversation: null }, hash: "h2" }));
    expect(screen.queryByText(/wants to run/), "the server is not said to want it").toBeNull();
  });

  it("E8: what may destroy something is marked", () => {
    show(question(tool({ path: "/x" })));
    const said = frame().getByText(/The server says: /);
    expect(said.className, "in the colour of a warning").toContain("warn");
    expect(said.querySelector("svg"), "and not by colour alone").not.toBeNull();
  });

  it("E2: what is sent stands before what the server says, and the definition last", () => {
    const body = { ...tool({ path: "/x" }), definition: '{\n  "name": "write_file"\n}' };
    show(question(body, { marks: { ...NO_MARKS, review: "new" } }));
    const text = screen.getByTestId("question").textContent ?? "";
    const places = ["Sends to files", "Click Allow to go on", "Its whole definition"].map((part) =>
      text.indexOf(part),
    );
    expect(places, "all are there").not.toContain(-1);
    expect(places, "in this order").toEqual([...places].sort((a, b) => a - b));
  });

  it("E2: a value of some kilobytes is shown whole", async () => {
    const content = Array.from({ length: 60 }, (_, i) => `line ${i} ${"x".repeat(40)}`).join("\n");
    show(question(tool({ content })));
    await arm();
    expect(frame().getByText(/line 59/), "to its end").toBeInTheDocument();
    expect(blocked("Allow once"), "nothing has to be opened").toBe(false);
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
    const text = withoutIcons(JSON.stringify(written, null, 2));
    expect(text).toContain('"data:image/svg+xml;base64,…" (icon, 900 B)');
    expect(text.split(data), "what a model gets, and what is no base64, stays").toHaveLength(3);
    const body = { ...tool({}), definition: JSON.stringify(written, null, 2) } as never;
    expect(definitionPart(body)?.text, "and is what has to be read").toBe(text);
  });

  it("E26: the beginning of the hash that is decided on is shown", () => {
    const hash = "3f2a9c1b".padEnd(64, "0");
    show(question(tool({ path: "/x" }), { hash }));
    expect(frame().getByText("Hash: 3f2a9c1b").title, "and all of it on hover").toContain(hash);
  });

  it("E25: what was edited is shown against what was asked for, and Deny has the focus", async () => {
    const before = question(tool({ path: "/a", mode: "w" }));
    const after = question(tool({ path: "/b", force: true }), { hash: "h2" });
    host.handlers.edit_question = () => after;
    show(before);
    await arm();
    await click(button("Edit what is sent"));
    await click(button("Use these changes"));
    const text = screen.getByTestId("question").textContent?.replace(/\s+/g, " ") ?? "";
    expect(text, "the value before").toMatch(/Asked for: ?\/a/);
    expect(text, "one that was added").toContain("Asked for: nothing");
    expect(text, "one that was taken out").toMatch(/Taken out by you: ?mode: w/);
    expect(document.activeElement, "the focus is not lost").toBe(button("Deny"));
  });
});
