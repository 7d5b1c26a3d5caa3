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

const requestOfModel = consentRequest(toolBody({ path: "/x" }), {
  origin: { by: "model", conversation: "c1", untrustedServers: [] },
  scopes: ["once", "conversation"],
});

describe("a denial with a reason", () => {
  it("sends the reason unchanged to the model", async () => {
    renderRequests(requestOfModel);
    await waitUntilArmed();
    await clickElement(button("Deny with a reason…"));
    const field = screen.getByRole("textbox", { name: "Reason" });
    expect(field, "the field should be focused").toHaveFocus();
    await typeText(field, "  the wrong file  ");
    await pressKey("Enter", field);
    expect(sentDecisions(), "X09: the reason should be sent for exactly this request").toEqual([
      { id: "q1", hash: "h1", answer: { action: "deny_because", reason: "the wrong file" } },
    ]);
  });

  it("is a plain denial if the reason is empty", async () => {
    renderRequests(requestOfModel);
    await waitUntilArmed();
    await clickElement(button("Deny with a reason…"));
    await clickElement(button("Deny and send the reason"));
    expect(sentDecisions()).toMatchObject([{ answer: { action: "deny" } }]);
  });

  it("can be abandoned, and typed letters decide nothing", async () => {
    renderRequests(requestOfModel);
    await waitUntilArmed();
    await clickElement(button("Deny with a reason…"));
    const field = screen.getByRole("textbox", { name: "Reason" });
    await pressKey("a", field);
    await pressKey("d", field);
    await pressKey("Escape", field);
    expect(
      screen.queryByRole("textbox", { name: "Reason" }),
      "Escape should close the field",
    ).toBeNull();
    expect(sentDecisions(), "Escape should neither cancel nor decide").toEqual([]);
    expect(button("Deny"), "Deny should be focused again").toHaveFocus();
    expect(await accessibilityProblems(), "axe should find no violations").toEqual([]);
  });

  it.each([
    ["during a composition", { isComposing: true }],
    ["as WebKit sends it after one", { keyCode: 229 }],
  ])("is kept by Escape of an input method, %s", async (_, more) => {
    renderRequests(requestOfModel);
    await waitUntilArmed();
    await clickElement(button("Deny with a reason…"));
    const field = screen.getByRole("textbox", { name: "Reason" });
    await typeText(field, "wrong");
    await pressKey("Escape", field, more);
    await pressKey("Enter", field, more);
    expect(screen.getByRole("textbox", { name: "Reason" })).toHaveValue("wrong");
    expect(sentDecisions(), "nothing should be decided").toEqual([]);
  });

  it("is offered only if a model receives it", async () => {
    const { set } = renderRequests(consentRequest(startServerBody));
    const because = () => screen.queryByRole("button", { name: "Deny with a reason…" });
    expect(because(), "a server should receive no reason").toBeNull();
    set(consentRequest(toolBody({}), { origin: { by: "user", conversation: "c1" } }));
    await waitUntilArmed();
    expect(because(), "the user should not need a reason").toBeNull();
  });
});
