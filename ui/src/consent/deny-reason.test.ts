import { screen } from "@testing-library/svelte";
import { describe, expect, it } from "vitest";

import { consentRequest, startServerBody, toolBody } from "./fixtures";
import {
  sentDecisions,
  waitUntilArmed,
  button,
  clickElement,
  installFakeHostForEachTest,
  accessibilityProblems,
  pressKey,
  renderRequests,
  typeText,
} from "./test-harness.svelte";

installFakeHostForEachTest();

const asked = consentRequest(toolBody({ path: "/x" }), {
  why: { by: "model", conversation: "c1", after: [] },
  scopes: ["once", "conversation"],
});

describe("a refusal with a reason", () => {
  it("goes to the model as the user wrote it", async () => {
    renderRequests(asked);
    await waitUntilArmed();
    await clickElement(button("Deny with a reason…"));
    const field = screen.getByRole("textbox", { name: "Reason" });
    expect(field, "one can write at once").toHaveFocus();
    await typeText(field, "  the wrong file  ");
    await pressKey("Enter", field);
    expect(sentDecisions(), "X09: the reason, for exactly this request").toEqual([
      { id: "q1", hash: "h1", answer: { action: "deny_because", reason: "the wrong file" } },
    ]);
  });

  it("is a plain refusal when nothing is written", async () => {
    renderRequests(asked);
    await waitUntilArmed();
    await clickElement(button("Deny with a reason…"));
    await clickElement(button("Deny and send the reason"));
    expect(sentDecisions()).toMatchObject([{ answer: { action: "deny" } }]);
  });

  it("can be thought better of; letters that are typed decide nothing", async () => {
    renderRequests(asked);
    await waitUntilArmed();
    await clickElement(button("Deny with a reason…"));
    const field = screen.getByRole("textbox", { name: "Reason" });
    await pressKey("a", field);
    await pressKey("d", field);
    await pressKey("Escape", field);
    expect(screen.queryByRole("textbox", { name: "Reason" }), "Escape leaves the field").toBeNull();
    expect(sentDecisions(), "and neither cancels nor decides").toEqual([]);
    expect(button("Deny"), "the focus is back").toHaveFocus();
    expect(await accessibilityProblems(), "axe finds nothing").toEqual([]);
  });

  it("is offered only if a model receives it", async () => {
    const { set } = renderRequests(consentRequest(startServerBody));
    const because = () => screen.queryByRole("button", { name: "Deny with a reason…" });
    expect(because(), "a server learns no reasons").toBeNull();
    set(consentRequest(toolBody({}), { why: { by: "user", conversation: "c1" } }));
    await waitUntilArmed();
    expect(because(), "nor has the user to tell themselves").toBeNull();
  });
});
