import { SCRIPTED } from "./dev-host";
import { ERAS, expect, LEGACY, test, visit } from "./fixtures";

const PLAN = `#/server/harbour/skills/${encodeURIComponent("skill://harbour/plan-passage/SKILL.md")}`;

for (const [era, setup] of ERAS) {
  test.describe(era, () => {
    test.use({ setup });

    test("a skill is listed, and read with its files", async ({ app }) => {
      await visit(app, "#/server/harbour/overview");
      await app.getByRole("tab", { name: /Skills/ }).click();
      const main = app.getByRole("main");
      await main.getByRole("option", { name: /plan-passage/ }).click();
      await expect(app, "the skill should have a URL").toHaveURL(/skills\/skill/);
      await main.getByRole("button", { name: "Read", exact: true }).click();
      await expect(main.getByRole("heading", { name: "Plan a passage" }), "the instructions should be shown").toBeVisible();
      await main.getByRole("button", { name: "references/rules-of-thumb.md" }).click();
      await expect(main.getByRole("table").first(), "the file of the skill should be shown").toBeVisible();
    });
  });
}

test("a skill is attached to a conversation and stored", async ({ app }) => {
  await visit(app, PLAN);
  await app.getByRole("main").getByRole("button", { name: "Attach…" }).click();
  await app.getByRole("dialog").getByRole("button", { name: "New conversation" }).click();
  await expect(app).toHaveURL(/#\/conversation\//);
  await expect(app.getByText("skill from harbour"), "the attachment should name its server").toBeVisible();
  await app.reload();
  await app.getByRole("article", { name: "Attached plan-passage" }).getByRole("button").first().click();
  await expect(
    app.getByRole("main").getByRole("heading", { name: "Plan a passage" }),
    "the attachment should contain the text of the skill",
  ).toBeVisible();
});

test("a skill is found by @ next to resources", async ({ app, host }) => {
  const { id } = (await host.call("create_conversation", { title: "Trip" })) as { id: string };
  await visit(app, `#/conversation/${id}`);
  await app.getByTestId("composer").getByRole("textbox").press("@");
  await app.getByRole("combobox", { name: "Find a resource or skill" }).fill("skill");
  await app.getByRole("option", { name: /plan-passage/ }).click();
  await expect(
    app.getByRole("list", { name: "Attached to this message" }),
    "E20: the skill should be attached to the message",
  ).toContainText("plan-passage");
  await app.getByRole("button", { name: "Send", exact: true }).click();
  await expect(app.getByRole("article", { name: "Attached plan-passage" })).toBeVisible();
});

/**
 * Returns the arguments of a server with the skills `before`. After a resource was read, it announces a change, and has
 * the skills `after`.
 */
function changing(before: string[], after: string[]): string[] {
  const skill = (name: string) => ({ uri: `skill://port/${name}/SKILL.md`, frontmatter: { name, description: "Acts" }, resources: "dynamic" });
  const listed = (names: string[]) => `skills/list=${JSON.stringify({ skills: names.map(skill) })}`;
  const opened = {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, resources: { listChanged: true }, extensions: { "io.modelcontextprotocol/skills": {} } },
    serverInfo: { name: "port", version: "1" },
  };
  const announced = JSON.stringify({ jsonrpc: "2.0", method: "notifications/resources/list_changed" });
  const read = `resources/read=${announced}\n{"jsonrpc":"2.0","id":$ID,"result":{"contents":[]}}`;
  return ["--reply", `initialize=${JSON.stringify(opened)}`, "--reply", listed(before), "--reply", listed(after), "--raw", read];
}

test.describe("a server that announces a change", () => {
  test.use({
    setup: { ...LEGACY, servers: { port: { command: SCRIPTED, args: changing(["plan"], ["plan", "moor"]) } }, running: ["port"] },
  });

  test("its skills are listed again", async ({ app, host }) => {
    await visit(app, "#/server/port/skills");
    const skills = app.getByRole("main").getByRole("option");
    await expect(skills).toHaveText([/plan/]);
    await host.call("read_resource", { call: "1", server: "port", uri: "test://one", refresh: true });
    await expect(skills, "the list should change without an action of the user").toHaveText([/plan/, /moor/]);
  });
});
