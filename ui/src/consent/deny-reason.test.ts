import { screen } from "@testing-library/svelte";
import { describe, expect, it } from "vitest";

import { consentRequest, startServer, tool } from "./fixtures";
import {
  answers,
  arm,
  button,
  click,
  eachWithHost,
  faults,
  press,
  show,
  type,
} from "./test-harness.svelte";

eachWithHost();

const asked = consentRequest(tool({ path: "/x" }), {
  why: { by: "model", conversation: "c1", after: [] },
  scopes: ["once", "conversation"],
});

describe("a refusal with a reason", () => {
  it("goes to the model as the user wrote it", async () => {
    show(asked);
    await arm();
    await click(button("Deny with a reason…"));
    const field = screen.getByRole("textbox", { name: "Reason" });
    expect(field, "one can write at once").toHaveFocus();
    await type(field, "  the wrong file  ");
    await press("Enter", field);
    expect(answers(), "X09: the reason, for exactly this request").toEqual([
      { id: "q1", hash: "h1", answer: { action: "deny_because", reason: "the wrong file" } },
    ]);
  });

  it("is a plain refusal when nothing is written", async () => {
    show(asked);
    await arm();
    await click(button("Deny with a reason…"));
    await click(button("Deny and send the reason"));
    expect(answers()).toMatchObject([{ answer: { action: "deny" } }]);
  });

  it("can be thought better of; letters that are typed decide nothing", async () => {
    show(asked);
    await arm();
    await click(button("Deny with a reason…"));
    const field = screen.getByRole("textbox", { name: "Reason" });
    await press("a", field);
    await press("d", field);
    await press("Escape", field);
    expect(screen.queryByRole("textbox", { name: "Reason" }), "Escape leaves the field").toBeNull();
    expect(answers(), "and neither cancels nor decides").toEqual([]);
    expect(button("Deny"), "the focus is back").toHaveFocus();
    expect(await faults(), "axe finds nothing").toEqual([]);
  });

  it("is offered only if a model receives it", async () => {
    const { set } = show(consentRequest(startServer));
    const because = () => screen.queryByRole("button", { name: "Deny with a reason…" });
    expect(because(), "a server learns no reasons").toBeNull();
    set(consentRequest(tool({}), { why: { by: "user", conversation: "c1" } }));
    await arm();
    expect(because(), "nor has the user to tell themselves").toBeNull();
  });
});
