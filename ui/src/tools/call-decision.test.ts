import { cleanup, fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { DecisionSource, JsonValue, RuleEffect, Tool } from "$lib/api/generated";
import {
  type FakeHost,
  REVIEWED_DEFINITION,
  sampleServer,
  startFakeHost,
} from "$lib/testing/fake-host";

import RunTool from "./RunTool.svelte";
import { DECISION_DEBOUNCE_MS } from "./call-decision.svelte";

const TOOL: Tool = {
  ...{ name: "echo", title: null, description: null, outputSchema: null, icons: [] },
  inputSchema: { type: "object", properties: { text: { type: "string", default: "hello" } } },
  claims: {
    ...{ readOnly: null, destructive: null, idempotent: null, openWorld: null },
    asksEachTime: false,
  },
  allowed: false,
  ...REVIEWED_DEFINITION,
};
const ASKS = "You approve it before it is sent.";
const RULE: DecisionSource = { kind: "rule", rule: { source: "user", id: "1" } };

let host: FakeHost;
/** Returns the decision of the policy about these arguments. */
let decide: (sent: JsonValue) => { effect: RuleEffect; by: DecisionSource };

const result = (effect: RuleEffect, by: DecisionSource) => ({
  ...{ effect, by, reason: "", scopes: [], considered: [] },
  ...{ assumedUnchanged: false, reviewState: null, isToolTurnedOff: false },
});

beforeEach(async () => {
  vi.useFakeTimers();
  host = await startFakeHost(
    {
      dry_run: ({ act }) => {
        const { effect, by } = decide(act.kind === "tool" ? act.arguments : null);
        return result(effect, by);
      },
    },
    { servers: [sampleServer({ name: "files" })] },
  );
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

async function show(changes: Partial<Tool> = {}): Promise<void> {
  render(RunTool, { server: "files", tool: { ...TOOL, ...changes } });
  await vi.advanceTimersByTimeAsync(DECISION_DEBOUNCE_MS);
}

it("says whether a rule with a condition on an argument allows exactly the entered call", async () => {
  decide = (sent) =>
    JSON.stringify(sent) === '{"text":"/safe"}'
      ? { effect: "allow", by: RULE }
      : { effect: "ask", by: { kind: "preset" } };
  await show();
  expect(screen.getByText(ASKS)).toBeVisible();
  const field = screen.getByRole("textbox", { name: /text/ });
  await fireEvent.input(field, { target: { value: "/safe" } });
  await vi.advanceTimersByTimeAsync(DECISION_DEBOUNCE_MS);
  expect(screen.getByText("A rule allows this call. It is sent at once.")).toBeVisible();
  expect(screen.getByRole("button", { name: "Call" })).toHaveAccessibleDescription(
    "A rule allows this call. It is sent at once.",
  );
  await fireEvent.input(field, { target: { value: "/other" } });
  await vi.advanceTimersByTimeAsync(DECISION_DEBOUNCE_MS);
  expect(screen.getByText(ASKS)).toBeVisible();
});

it("follows changed rules", async () => {
  decide = () => ({ effect: "ask", by: { kind: "preset" } });
  await show();
  decide = () => ({ effect: "deny", by: RULE });
  host.send({ type: "rules_changed" });
  await vi.advanceTimersByTimeAsync(0);
  expect(screen.getByText("A rule denies this call. It is not sent.")).toBeVisible();
});

it("says nothing about changed arguments until the host has decided about them", async () => {
  const allowed = "A rule allows this call. It is sent at once.";
  decide = () => ({ effect: "allow", by: RULE });
  await show();
  expect(screen.getByText(allowed)).toBeVisible();
  const pending: ((of: unknown) => void)[] = [];
  host.answers.dry_run = () => new Promise((answer) => pending.push(answer as never));
  host.send({ type: "rules_changed" });
  await vi.advanceTimersByTimeAsync(0);
  const field = screen.getByRole("textbox", { name: /text/ });
  await fireEvent.input(field, { target: { value: "/other" } });
  await vi.advanceTimersByTimeAsync(0);
  expect(screen.queryByText(allowed), "it is about the previous arguments").toBeNull();
  pending[0]?.(result("allow", RULE));
  await vi.advanceTimersByTimeAsync(DECISION_DEBOUNCE_MS);
  expect(screen.queryByText(allowed), "so is a decision that arrives later").toBeNull();
  pending[1]?.(result("ask", { kind: "preset" }));
  await vi.advanceTimersByTimeAsync(0);
  expect(screen.getByText(ASKS)).toBeVisible();
});

it("says nothing while there are no arguments", async () => {
  decide = () => ({ effect: "ask", by: { kind: "preset" } });
  await show();
  expect(screen.getByText(ASKS)).toBeVisible();
  await fireEvent.click(screen.getByRole("button", { name: "JSON" }));
  await fireEvent.input(screen.getByRole("textbox"), { target: { value: "{" } });
  await vi.advanceTimersByTimeAsync(DECISION_DEBOUNCE_MS);
  expect(screen.queryByText(ASKS)).toBeNull();
});

it("names a standing approval if the host can't tell", async () => {
  decide = () => {
    throw new Error("no such tool");
  };
  await show({ allowed: true });
  expect(screen.getByText("An approval covers this call. It is sent at once.")).toBeVisible();
});

it("promises nothing if the host can't tell", async () => {
  decide = () => {
    throw new Error("no such tool");
  };
  await show();
  expect(screen.getByText("A rule may allow this call without asking.")).toBeVisible();
});

it("says why no second call is made while one is under way", async () => {
  decide = () => ({ effect: "ask", by: { kind: "preset" } });
  host.answers.call_tool = () => new Promise(() => undefined);
  await show();
  const button = screen.getByRole("button", { name: "Call" });
  for (let presses = 0; presses < 2; presses++) {
    await fireEvent.click(button);
    await vi.advanceTimersByTimeAsync(0);
  }
  expect(button).toHaveAccessibleDescription(/^This call is under way/);
  expect(host.requests("call_tool"), "one call should be made").toHaveLength(1);
});
