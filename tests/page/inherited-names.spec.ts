// Names from servers that equal members of `Object.prototype`.
import { expect } from "@playwright/test";

import { attack, show, tool } from "./attack";
import { allow, consentRequest, test, visit } from "./fixtures";

const NAMES = ["toString", "constructor", "valueOf", "hasOwnProperty"];

test("tool arguments named like inherited members are filled in and sent", async ({ page }) => {
  const what = "parameters named like members of all objects";
  const properties = Object.fromEntries(NAMES.map((name) => [name, { type: "string" }]));
  const responses = { reply: { "tools/list": tool({ inputSchema: { type: "object", properties, required: NAMES } }) }, misbehave: "escapes" };
  await attack(page, what, () => responses, async ({ app }) => {
    await visit(app, "#/server/bad/tools/show");
    for (const name of NAMES) await app.getByRole("textbox", { name }).fill(`value of ${name}`);
    await app.getByRole("button", { name: "Call", exact: true }).click();
    for (const name of NAMES) await expect(consentRequest(app), `the payload should contain ${name}`).toContainText(`value of ${name}`);
    await allow(app, "Allow once");
    await expect(app.getByTestId("tool-result")).toHaveAttribute("data-state", "done");
  });
});

test("template variables and prompt arguments named like inherited members can be filled in", async ({ page }) => {
  const reply = {
    "tools/list": tool(),
    "prompts/list": { prompts: [{ name: "greet", arguments: NAMES.map((name) => ({ name, required: true })) }] },
    "prompts/get": { messages: [{ role: "user", content: { type: "text", text: "greeted" } }] },
    "resources/templates/list": { resourceTemplates: [{ uriTemplate: "test:///{toString}/{constructor}", name: "odd" }] },
    "tools/call": { content: [] },
  };
  await attack(page, "variables and arguments named like members of all objects", () => ({ reply }), async ({ app }) => {
    await visit(app, "#/server/bad/prompts/greet");
    for (const name of NAMES) await app.getByRole("combobox", { name }).fill(`v-${name}`);
    await visit(app, "#/server/bad/resources");
    await app.getByRole("main").getByText("odd").first().click();
    await app.getByRole("combobox", { name: "toString" }).fill("one");
    await app.getByRole("combobox", { name: "constructor" }).fill("two");
    await expect(app.getByRole("main").getByText("test:///one/two").first(), "both variables should be in the URI").toBeVisible();
    await show(app);
  });
});
