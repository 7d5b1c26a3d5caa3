// "Always when…": a rule that is written from the consent request of a tool call.
import { render, screen, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, onTestFinished, vi } from "vitest";

import type { ConsentRequest } from "$lib/api/generated";
import { resetPageState } from "$lib/page-state";
import { platform, setPlatform } from "$lib/platform";

import { NO_REVIEW_MARKS } from "../review/review-labels";
import { ConsentController } from "./consent-controller.svelte";
import { consentRequest, startServerBody, toolBody } from "./fixtures";
import InlineConsent from "./InlineConsent.svelte";
import {
  sentDecisions,
  waitUntilArmed,
  button,
  clickElement,
  installFakeHostForEachTest,
  accessibilityProblems,
  host,
  moveToRequest,
  pressKey,
  renderRequests,
} from "./test-harness.svelte";

installFakeHostForEachTest();

const reviewed = { ...NO_REVIEW_MARKS, review: "reviewed" as const };
const writeFileRequest = (changes: Partial<ConsentRequest> = {}) =>
  consentRequest(toolBody({ path: "/home/ann/trip/plan.md", note: null }), {
    ...{ scopes: ["once", "session", "always"], marks: reviewed },
    ...changes,
  });

async function openMenu() {
  const user = userEvent.setup({ advanceTimers: vi.advanceTimersByTime, delay: null });
  button("More ways to allow").focus();
  await user.keyboard("{Enter}");
  return user;
}

async function openEditor() {
  const user = await openMenu();
  await user.click(screen.getByRole("menuitem", { name: "Always when…" }));
  return { user, editor: await screen.findByRole("dialog", { name: "New rule" }) };
}

describe('the entry "Always when…"', () => {
  it("opens the editor of a rule with the conditions of the call, and saves it", async () => {
    renderRequests(writeFileRequest());
    await waitUntilArmed();
    const { user, editor } = await openEditor();
    await vi.waitFor(() =>
      expect(
        screen.queryByTestId("consent-request"),
        "the editor should hide the request",
      ).toBeNull(),
    );
    expect(within(editor).getByLabelText("Action"), "the rule should allow").toHaveValue("allow");
    expect(within(editor).getByLabelText("Server")).toHaveValue("files");
    expect(within(editor).getByLabelText("Tool")).toHaveValue("write_file");
    const pattern = within(editor).getByLabelText("Pattern (condition 1)");
    expect(within(editor).queryByText(/^The model has read untrusted content/)).toBeNull();
    expect(pattern, "the condition should be the folder of the path").toHaveValue("/home/ann/trip");
    expect(
      within(editor).getByText(/get no condition.*\/note/),
      "arguments without a condition should be listed",
    ).toBeVisible();
    await user.clear(pattern);
    await user.type(pattern, "/home/ann");
    await user.click(within(editor).getByRole("button", { name: "Save" }));
    await vi.advanceTimersByTimeAsync(0);
    const saved = host.sent.filter(([name]) => name === "add_policy_rule").map(([, rule]) => rule);
    expect(saved, "the edited rule should be saved").toMatchObject([
      {
        ...{ id: "", effect: "allow", server: "files", tool: "write_file" },
        ...{ arguments: [{ at: "/path", test: "path", pattern: "/home/ann" }] },
        ...{ scope: { kind: "always" }, afterUntrusted: false },
      },
    ]);
    expect(
      await screen.findByTestId("consent-request"),
      "the request should still be pending",
    ).toBeVisible();
    expect(sentDecisions(), "saving a rule should not decide the request").toEqual([]);
  });

  it("warns that a rule without a condition allows any arguments", async () => {
    renderRequests(writeFileRequest({ body: toolBody({}) }));
    await waitUntilArmed();
    const { user, editor } = await openEditor();
    const warning = "This rule allows any arguments.";
    expect(within(editor).getByText(warning)).toBeVisible();
    expect(within(editor).getByText(/does not use these arguments.*\/path/)).toBeVisible();
    await user.click(within(editor).getByRole("button", { name: "Add a condition" }));
    expect(
      within(editor).queryByText(warning),
      "the warning should be removed once there is a condition",
    ).toBeNull();
  });

  it("gives the limit as the reason for arguments beyond it", async () => {
    const many = Object.fromEntries(Array.from({ length: 45 }, (_, i) => [`a${i}`, "x"]));
    renderRequests(writeFileRequest({ body: toolBody(many) }));
    await waitUntilArmed();
    const { editor } = await openEditor();
    const reason = within(editor).getByText(/^A rule has at most 20 conditions/);
    expect(reason).toHaveTextContent(/: \/a20, .*\/a39 and 5 more\.$/);
    expect(
      within(editor).queryByText(/can't be compared/),
      "only one reason should be shown",
    ).toBeNull();
    expect(within(editor).queryByText(/allows any arguments/)).toBeNull();
  });

  it.each<[string, Partial<ConsentRequest>]>([
    ["the rule that asks", { reason: "after-untrusted", scopes: ["once"] }],
    [
      "the conversation",
      { origin: { by: "model", conversation: "c1", untrustedServers: ["web"] } },
    ],
  ])("names the check box for calls after untrusted content, known from %s", async (_, changes) => {
    renderRequests(writeFileRequest(changes));
    await waitUntilArmed();
    const { editor } = await openEditor();
    const box = within(editor).getByRole("checkbox", { name: /^Also after the model has read/ });
    expect(box, "the box should be unchecked by default").not.toBeChecked();
    expect(within(editor).getByText(/Check “Also after the model has read/)).toBeVisible();
  });

  it("decides nothing while the editor is open", async () => {
    const { controller } = renderRequests(writeFileRequest());
    await waitUntilArmed();
    await moveToRequest();
    const { editor } = await openEditor();
    await waitUntilArmed();
    await pressKey("a", editor);
    await pressKey("d", editor);
    expect(controller.canAllow, "the request should not be approvable").toBe(false);
    expect(sentDecisions(), "shortcuts should have no effect").toEqual([]);
    await pressKey("Escape", undefined, { keyCode: 229 });
    expect(editor, "Escape of an input method should not close it").toBeVisible();
    await pressKey("Escape");
    expect(
      await screen.findByTestId("consent-request"),
      "Escape should close only the editor",
    ).toBeVisible();
    expect(sentDecisions()).toEqual([]);
    await waitUntilArmed();
    await clickElement(button("Allow once"));
    expect(sentDecisions(), "the request should be decided as usual").toMatchObject([
      { answer: { action: "allow", scope: "once" } },
    ]);
  });

  it("limits the rule to its conversation in the window of a conversation", async () => {
    const { pathname } = location;
    history.replaceState(null, "", `${pathname}?conversation=c1`);
    const fake = platform();
    resetPageState();
    setPlatform(fake);
    onTestFinished(() => {
      history.replaceState(null, "", pathname);
      resetPageState();
    });
    renderRequests(writeFileRequest());
    await waitUntilArmed();
    const { user, editor } = await openEditor();
    const duration = within(editor).getByLabelText("Duration");
    expect(within(duration).getAllByRole("option"), "nothing else is offered").toHaveLength(1);
    expect(within(editor).getByText(/Add other rules that allow in the main window/)).toBeVisible();
    await user.selectOptions(within(editor).getByLabelText("Action"), "deny");
    expect(duration, "a rule that denies can apply everywhere").toHaveValue("always");
    await user.selectOptions(within(editor).getByLabelText("Action"), "allow");
    await user.click(within(editor).getByRole("button", { name: "Save" }));
    await vi.advanceTimersByTimeAsync(0);
    const saved = host.sent.filter(([name]) => name === "add_policy_rule").map(([, rule]) => rule);
    expect(saved).toMatchObject([
      { effect: "allow", scope: { kind: "conversation", conversation: "c1" } },
    ]);
  });

  it("adds a temporary rule to those of the current run", async () => {
    renderRequests(writeFileRequest());
    await waitUntilArmed();
    const { user, editor } = await openEditor();
    await user.selectOptions(within(editor).getByLabelText("Duration"), "session");
    await user.click(within(editor).getByRole("button", { name: "Save" }));
    await vi.advanceTimersByTimeAsync(0);
    const sent = host.sent.map(([name]) => name);
    expect(sent, "the rule should be added").toContain("add_policy_rule");
    expect(sent, "no other rule should be removed").not.toContain("remove_policy_rule");
  });

  it.each([
    ["a tool that was not reviewed", { marks: NO_REVIEW_MARKS }, /Rules allow reviewed tools only/],
    ["the Careful preset", { stricterReason: "preset" }, /The Careful preset asks/],
    [
      "a rule that asks",
      { stricterReason: "rule", scopes: ["once"] },
      /Another rule asks each time/,
    ],
  ] as [string, Partial<ConsentRequest>, RegExp][])(
    "can't be used for %s, and shows the reason",
    async (_, changes, reason) => {
      const { controller } = renderRequests(writeFileRequest(changes));
      await waitUntilArmed();
      const user = await openMenu();
      const item = screen.getByRole("menuitem", { name: /^Always when…/ });
      expect(item).toHaveAttribute("aria-disabled", "true");
      expect(item).toHaveTextContent(reason);
      await user.click(item);
      controller.beginRule();
      expect(controller.ruleSource, "no editor should be opened").toBeNull();
    },
  );

  it("is not offered for the start of a server", async () => {
    renderRequests(consentRequest(startServerBody, { scopes: ["once", "always"] }));
    await waitUntilArmed();
    await openMenu();
    expect(
      screen.getAllByRole("menuitem").length,
      "other entries should be offered",
    ).toBeGreaterThan(0);
    expect(screen.queryByRole("menuitem", { name: /^Always when/ })).toBeNull();
  });

  it("closes together with the request of a conversation", async () => {
    const all = [writeFileRequest()];
    const controller = new ConsentController(() => all, { inline: true });
    const props = { controller, covered: false, maxHeight: 400, onview: () => undefined };
    const { unmount } = render(InlineConsent, props);
    await waitUntilArmed();
    controller.beginRule();
    expect(await screen.findByRole("dialog", { name: "New rule" })).toBeVisible();
    expect(controller.canAllow, "the editor should hide the request").toBe(false);
    unmount();
    expect(controller.ruleSource, "no other request should stay hidden").toBeNull();
  });

  it("has no accessibility problems", async () => {
    renderRequests(writeFileRequest());
    await waitUntilArmed();
    await openEditor();
    expect(await accessibilityProblems()).toEqual([]);
  });
});
