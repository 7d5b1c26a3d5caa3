import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, describe, expect, it } from "vitest";

import type { DryRunResult, Policy, Rule } from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import { selectOption } from "$lib/testing/select-option";
import { sampleServer, startFakeHost } from "$lib/testing/fake-host";

import RulesView from "../settings/RulesView.svelte";
import { RuleDraft } from "./rule-draft.svelte";
import { emptyPolicy, sampleRule } from "./fixtures";
import { ruleSummary } from "./rule-labels";

afterEach(() => cleanup());

type Answers = Parameters<typeof startFakeHost>[0];

async function show(policy: Partial<Policy>, answers: Answers = {}) {
  const host = await startFakeHost(
    {
      read_policy: () => ({ ...emptyPolicy, ...policy }),
      list_grants: () => ({ grants: [] }),
      ...answers,
    },
    { servers: [sampleServer()] },
  );
  render(RulesView);
  await screen.findByText("Your rules");
  return host;
}

describe("rules", () => {
  it("are described with each condition", () => {
    const rule = sampleRule({
      effect: "deny",
      tool: "delete_*",
      arguments: [{ at: "/path", test: "folder", pattern: "/etc" }],
      annotations: { readOnly: null, destructive: true, idempotent: null, openWorld: null },
    });
    expect(ruleSummary(rule), "the summary should contain the whole rule").toBe(
      "Deny: tool delete_* of files, if /path is in the folder /etc, if it may be destructive, unless the server says that it is not.",
    );
    const hidden = sampleRule({ server: "fi\u202eles" });
    expect(ruleSummary(hidden), "hidden characters should be replaced").not.toContain("\u202e");
  });

  it("managed on this computer are marked and read-only", async () => {
    const rules = [sampleRule({ source: "managed" }), sampleRule({ id: "2", note: "mine" })];
    await show({ rules, managed: { ...emptyPolicy.managed, exists: true } });
    const managed = (await screen.findByText("This computer")).closest("li") as HTMLElement;
    expect(
      within(managed).queryAllByRole("button"),
      "a managed rule should have no buttons",
    ).toEqual([]);
    const own = screen.getByText("mine").closest("li") as HTMLElement;
    expect(
      within(own).getAllByRole("button").length,
      "an own rule should have buttons to change and remove it",
    ).toBe(2);
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  async function removable(effect: Rule["effect"], changes: Partial<Rule> = {}) {
    let rules = [sampleRule({ id: "7", effect, tool: "delete_*", note: "mine", ...changes })];
    const [removed] = rules;
    const host = await show(
      {},
      {
        read_policy: () => ({ ...emptyPolicy, rules }),
        remove_policy_rule: () => ((rules = []), {}),
        restore_policy_rule: () => ({ source: "user", id: "7" }),
      },
    );
    return { host, removed };
  }

  it("E24: that allow are removed at once, and restored by Undo", async () => {
    const { host, removed } = await removable("allow");
    await fireEvent.click(screen.getByRole("button", { name: /^Remove: Allow/ }));
    await screen.findByText("Rule removed");
    expect(screen.queryByRole("dialog"), "there should be no confirmation").toBeNull();
    expect(host.requests("remove_policy_rule"), "exactly this rule should be removed").toEqual([
      { source: "user", id: "7" },
    ]);
    await fireEvent.click(await screen.findByRole("button", { name: "Undo" }));
    await waitFor(() => expect(screen.queryByText("Rule removed")).toBeNull());
    expect(
      host.requests("restore_policy_rule"),
      "the whole rule should be added with its id",
    ).toEqual([removed]);
  });

  const special: [string, Partial<Rule>][] = [
    ["of this run", { source: "session", scope: { kind: "session" } }],
    ["of trust in a server", { trustedServer: true, identity: "abc", tool: null }],
    ["for models", { sampling: { requestsPerHour: 5, tokensPerHour: 9_000 }, tool: null }],
  ];
  it.each(special)("E24: %s is restored completely by Undo", async (_, changes) => {
    const { host, removed } = await removable("allow", changes);
    await fireEvent.click(screen.getByRole("button", { name: /^Remove: / }));
    await fireEvent.click(await screen.findByRole("button", { name: "Undo" }));
    await waitFor(() => expect(host.requests("restore_policy_rule")).toHaveLength(1));
    expect(host.requests("remove_policy_rule")).toEqual([{ source: removed?.source, id: "7" }]);
    expect(host.requests("restore_policy_rule")).toEqual([removed]);
  });

  it.each(["deny", "ask"] as const)(
    "E24: that %s are removed after confirmation",
    async (effect) => {
      const { host } = await removable(effect);
      await fireEvent.click(screen.getByRole("button", { name: /^Remove: / }));
      const dialog = await screen.findByRole("dialog");
      expect(
        host.requests("remove_policy_rule"),
        "nothing should be removed before the confirmation",
      ).toEqual([]);
      expect(dialog, "the dialog should show the rule").toHaveTextContent("delete_*");
      await fireEvent.click(within(dialog).getByRole("button", { name: "Remove" }));
      await screen.findByText("Rule removed");
      expect(host.requests("remove_policy_rule"), "exactly this rule should be removed").toEqual([
        { source: "user", id: "7" },
      ]);
    },
  );

  it("are edited in a form, which shows validation errors", async () => {
    let isRejected = true;
    const host = await show(
      {},
      {
        add_policy_rule: () => {
          if (isRejected) throw { code: "invalid", message: "the expression can't be used" };
          return { source: "user", id: "1" };
        },
      },
    );
    await fireEvent.click(screen.getByRole("button", { name: "Add a rule" }));
    const dialog = await screen.findByRole("dialog");
    await selectOption(within(dialog).getByLabelText("Action"), "deny");
    await fireEvent.input(within(dialog).getByLabelText("Tool"), { target: { value: "rm" } });
    await fireEvent.click(within(dialog).getByRole("button", { name: "Add a condition" }));
    const pattern = within(dialog).getByLabelText("Pattern (condition 1)");
    await fireEvent.input(pattern, { target: { value: "/etc*" } });
    await fireEvent.click(await within(dialog).findByRole("button", { name: "Compare as a path" }));
    expect(
      within(dialog).queryByText(/This looks like a path/),
      "the note should be removed for a path",
    ).toBeNull();
    await selectOption(within(dialog).getByLabelText("Comparison (condition 1)"), "glob");
    expect(
      within(dialog).getByText(/This looks like a path/),
      "the note should be shown for a pattern",
    ).toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await fireEvent.click(within(dialog).getByRole("button", { name: "Save" }));
    expect(await within(dialog).findByText("the expression can't be used")).toBeVisible();
    isRejected = false;
    await fireEvent.click(within(dialog).getByRole("button", { name: "Save" }));
    await waitFor(() =>
      expect(screen.queryByRole("dialog"), "the dialog should be closed").toBeNull(),
    );
    const expected: Partial<Rule> = {
      effect: "deny",
      server: "*",
      tool: "rm",
      arguments: [{ at: "/", test: "glob", pattern: "/etc*" }],
    };
    expect(
      host.requests("add_policy_rule").at(-1),
      "the rule should be saved as it was entered",
    ).toMatchObject(expected);
  });

  it("are replaced by their number when they are edited", async () => {
    const rules = [sampleRule({ id: "7", note: "mine" })];
    const host = await show({ rules }, { set_policy_rule: () => ({ source: "user", id: "7" }) });
    await fireEvent.click(screen.getByRole("button", { name: /^Edit: / }));
    const dialog = await screen.findByRole("dialog", { name: "Edit rule" });
    await fireEvent.click(within(dialog).getByRole("button", { name: "Save" }));
    await waitFor(() => expect(host.requests("set_policy_rule")[0]?.id).toBe("7"));
    expect(host.requests("add_policy_rule"), "no rule should be added").toEqual([]);
  });

  it("that can't be read are reported with their file", async () => {
    const problem = "rules[0].effect: unknown variant";
    await show({ user: { ...emptyPolicy.user, exists: true, problem } });
    expect(screen.getByText(problem), "the cause should be shown").toBeVisible();
    expect(screen.getByText("Your rules can't be used, so everything asks")).toBeVisible();
  });

  it("trust a server after confirmation", async () => {
    const host = await show({});
    await fireEvent.click(screen.getByRole("button", { name: "Trust" }));
    expect(host.requests("set_trust"), "nothing should be trusted before the confirmation").toEqual(
      [],
    );
    const dialog = await screen.findByRole("dialog", { name: "Trust files?" });
    await fireEvent.click(within(dialog).getByRole("button", { name: "Trust" }));
    await waitFor(() =>
      expect(host.requests("set_trust"), "the server should be trusted permanently").toEqual([
        { server: "files", trust: "always" },
      ]),
    );
  });

  it("apply a preset at once", async () => {
    const host = await show({});
    await fireEvent.click(screen.getByRole("radio", { name: /^Careful/ }));
    expect(host.requests("set_preset"), "the preset should be applied").toEqual([
      { preset: "careful" },
    ]);
  });
});

describe("a rule draft", () => {
  it("that allows has no annotation conditions and a fixed direction", () => {
    const draft = new RuleDraft(null);
    draft.direction = "both";
    draft.claims = "destructive";
    draft.effect = "allow";
    const rule = draft.rule(0);
    expect(rule.annotations, "a rule that allows should have no annotation conditions").toBeNull();
    expect(rule.direction, "a rule that allows should be for calls only").toBe("to_server");
  });

  it("preserves values that its form can't represent", () => {
    const annotations = { readOnly: true, destructive: null, idempotent: true, openWorld: null };
    const before = sampleRule({ annotations, expiresAt: 5 });
    expect(new RuleDraft(before).rule(100), "the rule should be unchanged").toEqual(before);
  });

  it("without an id is a new rule", () => {
    expect(new RuleDraft(sampleRule({ id: "" })).isNew).toBe(true);
    expect(new RuleDraft(sampleRule({ id: "3" })).isNew).toBe(false);
  });

  it("is limited to the conversation of a window, if the rule allows", () => {
    const draft = new RuleDraft(null, "c1");
    draft.lasts = "hour";
    expect(draft.rule(0), "a rule that asks should not be limited").toMatchObject({
      ...{ scope: { kind: "always" }, expiresAt: 3_600_000 },
    });
    draft.effect = "allow";
    expect(draft.rule(0)).toMatchObject({
      ...{ source: "session", expiresAt: null },
      scope: { kind: "conversation", conversation: "c1" },
    });
  });

  it("expires after the selected duration", () => {
    const draft = new RuleDraft(null);
    draft.lasts = "hour";
    expect(draft.rule(1000).expiresAt, "the rule should expire after an hour").toBe(3_601_000);
  });
});

describe("a dry run", () => {
  const result: DryRunResult = {
    effect: "deny",
    reason: "rule-denies",
    by: { kind: "rule", rule: { source: "managed", id: "3" } },
    scopes: [],
    considered: [
      {
        by: { kind: "rule", rule: { source: "managed", id: "3" } },
        effect: "deny",
        fit: "fits",
        argument: null,
        arguments: [
          {
            number: 0,
            holds: true,
            reason: "respelled",
            value: '"//secret/x"',
            normal: ["/secret/x"],
          },
        ],
      },
      {
        by: { kind: "rule", rule: { source: "user", id: "1" } },
        effect: "allow",
        fit: "other-argument",
        argument: 1,
        arguments: [],
      },
    ],
    assumedUnchanged: false,
    reviewState: "changed",
    isToolTurnedOff: false,
  };

  it("shows the decision and the rule that causes it", async () => {
    const host = await show({}, { dry_run: () => result });
    const run = screen.getByRole("button", { name: "Test" });
    expect(run, "the button should be disabled without a tool").toBeDisabled();
    const names = screen.getAllByLabelText("Tool");
    await fireEvent.input(names.at(-1) as HTMLElement, { target: { value: "write" } });
    await fireEvent.click(run);
    expect(
      await screen.findByText("It would be denied"),
      "the outcome should be shown",
    ).toBeVisible();
    expect(
      screen.getByText("Decided by: rule 3 of this computer."),
      "the deciding rule should be shown",
    ).toBeVisible();
    expect(
      screen.getByText("Resolved: /secret/x"),
      "the resolved path should be shown",
    ).toBeVisible();
    expect(
      screen.getByText(/^Matches: another spelling of it matches/),
      "the reason for the match should be shown",
    ).toBeVisible();
    expect(
      screen.getByText(/changed since you reviewed it/),
      "the change of the tool should be shown",
    ).toBeVisible();
    expect(
      screen.getByText(/condition 2 does not match/),
      "the reason for a mismatch should be shown",
    ).toBeInTheDocument();
    expect(host.requests("dry_run"), "the entered values should be sent").toEqual([
      {
        server: "files",
        act: {
          kind: "tool",
          tool: "write",
          arguments: {},
          conversation: null,
          afterUntrusted: false,
        },
      },
    ]);
    expect(
      screen.queryByText(/Models can't call this tool/),
      "the note should be removed for an enabled tool",
    ).toBeNull();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  it("shows that models can't call a disabled tool", async () => {
    const reason = "turned-off";
    const by = { kind: "built_in" } as const;
    const refused = { ...result, reason, by, considered: [], isToolTurnedOff: true };
    await show({}, { dry_run: () => refused });
    const names = screen.getAllByLabelText("Tool");
    await fireEvent.input(names.at(-1) as HTMLElement, { target: { value: "write" } });
    await fireEvent.click(screen.getByRole("button", { name: "Test" }));
    expect(
      await screen.findByText(/^Models can't call this tool/),
      "the note should be shown",
    ).toBeVisible();
    expect(
      screen.getByText(/^Because: the tool is turned off for models/),
      "the reason should be shown",
    ).toBeVisible();
  });
});
