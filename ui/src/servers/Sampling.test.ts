// Sampling settings of a server: disabled by default, limits, and an automatic budget.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { describe, expect, test } from "vitest";

import type { Rule, SamplingReport } from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import { sampleServer, startFakeHost } from "$lib/testing/fake-host";

import { emptyPolicy, sampleRule } from "../rules/fixtures";

import Sampling from "./Sampling.svelte";
import { samplingReport } from "./sampling-fixtures";

const user = userEvent.setup();

async function show(report: SamplingReport, rules: Rule[] = []) {
  let current = report;
  const host = await startFakeHost({
    read_sampling: () => current,
    set_sampling: ({ settings }) => {
      current = { ...current, settings };
      return {};
    },
    list_models: () => ({ providers: [], default: null, found: [], presets: [] }),
    read_policy: () => ({ ...emptyPolicy, rules }),
    add_policy_rule: () => ({ source: "user", id: "1" }),
    remove_policy_rule: () => ({}),
  });
  render(Sampling, { server: sampleServer() });
  await screen.findByRole("checkbox", { name: "Let this server use your models" });
  return host;
}

describe("the use of models", () => {
  test("is disabled by default, and enabled with one action", async () => {
    const host = await show(samplingReport());
    const on = screen.getByRole("checkbox", { name: "Let this server use your models" });
    expect(
      on,
      "[sampling-user-controls]: sampling should be disabled by default",
    ).not.toBeChecked();
    expect(screen.queryByRole("table"), "other settings should be hidden").toBeNull();
    await user.click(on);
    const [sent] = host.requests("set_sampling");
    expect(sent?.settings.isEnabled, "sampling should be enabled").toBe(true);
    expect(sent?.settings.perHour.requests, "the default limits should be sent").toBe(60);
    expect(await screen.findByRole("table"), "other settings should be shown").toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  test("shows the usage, and removes a limit with an empty field", async () => {
    const spent = { requests: 3, tokens: 1_234, micros: 12_500 };
    const host = await show(samplingReport({ isEnabled: true }, { lastHour: spent, total: spent }));
    const requests = screen.getByRole("row", { name: /^Requests/ });
    expect(within(requests).getAllByText("3 used").length, "X26: the usage should be shown").toBe(
      2,
    );
    expect(
      screen.getByRole("row", { name: /^US dollars/ }),
      "the spent money should be shown",
    ).toHaveTextContent("$0.0125");
    const limit = screen.getByLabelText("US dollars, Total: limit");
    await user.type(limit, "1.5");
    await user.tab();
    expect(
      host.requests("set_sampling").at(-1)?.settings.total.micros,
      "the limit should be sent in millionths",
    ).toBe(1_500_000);
    const hour = screen.getByLabelText("Requests, Per hour: limit");
    await user.clear(hour);
    await user.tab();
    await waitFor(() =>
      expect(
        host.requests("set_sampling").at(-1)?.settings.perHour.requests,
        "the limit should be removed",
      ).toBeNull(),
    );
    await user.clear(limit);
    await user.type(limit, "-3");
    await user.tab();
    expect(limit, "an invalid amount should be reverted").toHaveValue("1.5");
  });

  test("shows the reached limit, and that a restart is required", async () => {
    const changes = {
      reachedLimit: { quantity: "tokens", isPerHour: true, limit: 200_000 },
      outdated: true,
    };
    const host = await show(samplingReport({ isEnabled: true }, changes));
    expect(
      screen.getByText(/limit is reached.*Tokens, Per hour/),
      "X26: the reached limit should be shown",
    ).toBeVisible();
    await user.click(screen.getByRole("button", { name: "Restart now" }));
    expect(host.requests("restart_server"), "the server should be restarted").toEqual([
      { server: "files" },
    ]);
  });

  test("allows requests within a budget after confirmation, and revokes that", async () => {
    const host = await show(samplingReport({ isEnabled: true }));
    await user.click(await screen.findByRole("button", { name: "Allow without asking" }));
    const dialog = await screen.findByRole("dialog");
    await user.click(within(dialog).getByRole("button", { name: "Allow without asking" }));
    await waitFor(() =>
      expect(host.requests("add_policy_rule").length, "a rule should be added").toBe(1),
    );
    const [rule] = host.requests("add_policy_rule");
    expect(
      rule,
      "[sampling-approval-controls]: the rule should be for this server, with the budget",
    ).toMatchObject({
      ...{ effect: "allow", server: "files", direction: "from_server", tool: null },
      sampling: { requestsPerHour: 10, tokensPerHour: 20_000 },
    });
  });

  test("shows the active budget, and revokes it", async () => {
    const rule = sampleRule({
      ...{ id: "7", effect: "allow", direction: "from_server" },
      sampling: { requestsPerHour: 5, tokensPerHour: 9_000 },
    });
    const host = await show(samplingReport({ isEnabled: true }), [rule]);
    expect(
      await screen.findByText(/Up to 5 requests and 9,000 tokens/),
      "the active budget should be shown",
    ).toBeVisible();
    await user.click(screen.getByRole("button", { name: "Ask each time" }));
    expect(host.requests("remove_policy_rule"), "the rule should be removed").toEqual([
      { source: "user", id: "7" },
    ]);
  });
});
