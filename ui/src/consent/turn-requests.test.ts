// The list of a model's tool calls that are decided together.
import { screen, within } from "@testing-library/svelte";
import { tick } from "svelte";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { ConsentRequest } from "$lib/api/generated";

import { NO_REVIEW_MARKS } from "../review/review-labels";
import { ARMING_DELAY_MS } from "./arming.svelte";
import { consentRequest, toolBody } from "./fixtures";
import {
  sentDecisions,
  waitUntilArmed,
  isButtonBlocked,
  button,
  clickElement,
  installFakeHostForEachTest,
  accessibilityProblems,
  host,
  moveToRequest,
  pressKey,
  renderTurn,
} from "./test-harness.svelte";
import { reviewReason, type ToolRequest } from "./turn-decision.svelte";

installFakeHostForEachTest();
afterEach(() => vi.restoreAllMocks());

const model = { by: "model" as const, conversation: "c1", untrustedServers: [] };
const reviewed = { ...NO_REVIEW_MARKS, review: "reviewed" as const };

/** Returns a consent request for a call of a reviewed tool. */
function call(number: number, changes: Partial<ConsentRequest> = {}): ConsentRequest {
  return consentRequest(toolBody({ path: `/file-${number}` }), {
    ...{ id: `q${number}`, hash: `${number}`.padStart(8, "a"), origin: model, marks: reviewed },
    ...changes,
  });
}

const threeCalls = () => [call(1), call(2), call(3)];
const allowOnce = (number: number, hash = `${number}`.padStart(8, "a")) => ({
  ...{ id: `q${number}`, hash, answer: { action: "allow", scope: "once" } },
});
const callCheckbox = (number: number) =>
  screen.getByRole("checkbox", { name: `Call ${number}: write_file on files` });
const rows = () =>
  within(screen.getByRole("list", { name: "Tool calls to decide" })).getAllByRole("listitem");

/** Mocks the layout: the visible height and the content height of every element, in pixels. */
function setHeights(client: number, scroll: number): void {
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(client);
  vi.spyOn(HTMLElement.prototype, "scrollHeight", "get").mockReturnValue(scroll);
}

async function scrollTo(top: number) {
  const area = screen.getByRole("region", { name: "Payload" });
  area.scrollTop = top;
  area.dispatchEvent(new Event("scroll"));
  await tick();
}

describe("the tool calls of one turn", () => {
  it("show the title, arguments, size and hash of each call", async () => {
    renderTurn(...threeCalls());
    await waitUntilArmed();
    expect(screen.getByRole("heading", { level: 2 })).toHaveTextContent("Run 3 tool calls?");
    expect(
      screen.getByText("The model asked."),
      "the origin of the calls should be shown",
    ).toBeInTheDocument();
    expect(rows()).toHaveLength(3);
    for (const [i, row] of rows().entries()) {
      const shown = row.textContent?.replace(/\s+/g, " ");
      expect(shown).toContain("Run write_file on files?");
      expect(shown, "the arguments should be shown").toContain(`/file-${i + 1}`);
      expect(shown, "the hash should be shown").toContain(`Hash: aaaaaaa${i + 1}`);
      expect(shown, "the effects should be shown").toContain("Destructive");
      expect(shown, "the size should be shown").toContain("18 B");
    }
    expect(
      screen.getByText(/server-filesystem/),
      "the command of the server should be shown",
    ).toBeInTheDocument();
    expect(host.drawn, "each request should be reported as rendered").toEqual(["q1", "q2", "q3"]);
  });

  it("are allowed by one click, each with its own id and hash", async () => {
    const { controller } = renderTurn(...threeCalls());
    expect(isButtonBlocked("Allow these 3"), "the button should be disabled at first").toBe(true);
    await clickElement(button("Allow these 3"));
    expect(sentDecisions(), "an early click should have no effect").toEqual([]);
    await waitUntilArmed();
    await clickElement(button("Allow these 3"), 2);
    expect(sentDecisions(), "a double click should have no effect").toEqual([]);
    await clickElement(button("Allow these 3"));
    expect(sentDecisions()).toEqual([1, 2, 3].map((number) => allowOnce(number)));
    expect(controller.queue.open, "no request should be open any more").toEqual([]);
  });

  it("are allowed and denied by the shortcuts of a single request", async () => {
    renderTurn(...threeCalls());
    await waitUntilArmed();
    await pressKey("a", button("Deny all 3"));
    expect(
      sentDecisions(),
      "a key should decide nothing before the user moves to the list",
    ).toEqual([]);
    await moveToRequest(button("Deny all 3"));
    await pressKey("a", button("Deny all 3"));
    expect(sentDecisions()).toEqual([1, 2, 3].map((number) => allowOnce(number)));
  });

  it("are allowed by A while a check box has the focus", async () => {
    renderTurn(...threeCalls());
    await waitUntilArmed();
    callCheckbox(2).focus();
    await clickElement(callCheckbox(2));
    await waitUntilArmed();
    await pressKey("a", callCheckbox(2));
    expect(sentDecisions()).toEqual([1, 3].map((number) => allowOnce(number)));
  });

  it("are denied together", async () => {
    renderTurn(...threeCalls());
    await clickElement(button("Deny all 3"));
    expect(sentDecisions(), "an early click should have no effect").toEqual([]);
    await waitUntilArmed();
    await clickElement(callCheckbox(2));
    await waitUntilArmed();
    await clickElement(button("Deny these 2"));
    expect(sentDecisions()).toEqual(
      ["1", "3"].map((number) => ({
        ...{ id: `q${number}`, hash: number.padStart(8, "a"), answer: { action: "deny" } },
      })),
    );
  });

  it("stay disabled until the whole list was in view", async () => {
    setHeights(400, 1_000);
    renderTurn(...threeCalls());
    await waitUntilArmed();
    expect(isButtonBlocked("Allow these 3")).toBe(true);
    expect(screen.getByText("Scroll through all of it to allow.")).toBeInTheDocument();
    await clickElement(button("Allow these 3"));
    expect(sentDecisions()).toEqual([]);
    await scrollTo(600);
    expect(
      isButtonBlocked("Allow these 3"),
      "the button should be disabled if the middle was skipped",
    ).toBe(true);
    await scrollTo(300);
    await waitUntilArmed();
    expect(isButtonBlocked("Allow these 3")).toBe(false);
    await clickElement(button("Allow these 3"));
    expect(sentDecisions()).toHaveLength(3);
  });

  it("are armed again when a hash changes, and the new hash is sent", async () => {
    const { set } = renderTurn(...threeCalls());
    await waitUntilArmed();
    set(call(1), call(2, { hash: "bbbbbbb2" }), call(3));
    await tick();
    expect(isButtonBlocked("Allow these 3")).toBe(true);
    await clickElement(button("Allow these 3"));
    expect(sentDecisions(), "the changed call should not be approved").toEqual([]);
    await waitUntilArmed();
    await clickElement(button("Allow these 3"));
    expect(sentDecisions()).toEqual([allowOnce(1), allowOnce(2, "bbbbbbb2"), allowOnce(3)]);
  });

  it("must be viewed again when a hash changes", async () => {
    setHeights(400, 1_000);
    const { set } = renderTurn(...threeCalls());
    for (const top of [300, 600]) await scrollTo(top);
    await waitUntilArmed();
    expect(isButtonBlocked("Allow these 3")).toBe(false);
    set(call(1, { hash: "bbbbbbb1" }), call(2), call(3));
    await waitUntilArmed();
    expect(
      isButtonBlocked("Allow these 3"),
      "the button should be disabled because the changed arguments are above",
    ).toBe(true);
  });

  it("are armed again when another call arrives", async () => {
    const { set } = renderTurn(...threeCalls());
    await waitUntilArmed();
    set(...threeCalls(), call(4));
    await tick();
    expect(isButtonBlocked("Allow these 4")).toBe(true);
  });

  it("are decided only as far as they are selected", async () => {
    renderTurn(...threeCalls());
    await waitUntilArmed();
    await clickElement(callCheckbox(1));
    expect(isButtonBlocked("Allow these 2"), "another selection should be armed again").toBe(true);
    await clickElement(callCheckbox(2));
    await clickElement(callCheckbox(3));
    await waitUntilArmed();
    expect(screen.getByText("Select at least one call.")).toBeInTheDocument();
    expect(isButtonBlocked("Deny all 3"), "an empty selection should not be deniable").toBe(true);
    await clickElement(callCheckbox(3));
    await waitUntilArmed();
    await clickElement(button("Allow this call"));
    expect(sentDecisions()).toEqual([allowOnce(3)]);
  });

  it("exclude a new tool, which is reviewed separately", async () => {
    const fresh = call(2, {
      body: { ...toolBody({ path: "/file-2" }), definition: "{}" } as never,
      marks: { ...NO_REVIEW_MARKS, review: "new" },
    });
    const { reviewed } = renderTurn(call(1), fresh, call(3));
    await waitUntilArmed();
    expect(screen.getAllByRole("checkbox"), "the new tool should not be selectable").toHaveLength(
      2,
    );
    expect(rows()[1]).toHaveTextContent("the tool is new, or has changed since you reviewed it");
    await clickElement(button("Allow these 2"));
    expect(sentDecisions()).toEqual([allowOnce(1), allowOnce(3)]);
    await clickElement(button("Review call 1: write_file on files"));
    expect(reviewed).toEqual(["q2"]);
  });

  it("stay listed after a stale decision", async () => {
    host.handlers.decide_consent_request = ({ id }: { id: string }) => {
      if (id !== "q1") throw { code: "stale", message: "it changed", data: null };
      return {};
    };
    const { controller, set } = renderTurn(...threeCalls());
    await waitUntilArmed();
    await clickElement(button("Allow these 3"));
    expect(sentDecisions(), "each decision should be sent").toHaveLength(3);
    expect(rows(), "the accepted call should be removed").toHaveLength(2);
    for (const row of rows())
      expect(within(row).getByRole("alert")).toHaveTextContent("This request changed.");
    expect(isButtonBlocked("Allow these 2")).toBe(true);
    host.handlers.decide_consent_request = () => ({});
    set(call(2, { hash: "bbbbbbb2" }), call(3, { hash: "bbbbbbb3" }));
    await waitUntilArmed();
    await clickElement(button("Allow these 2"));
    expect(sentDecisions().slice(3)).toEqual([allowOnce(2, "bbbbbbb2"), allowOnce(3, "bbbbbbb3")]);
    expect(controller.queue.open).toEqual([]);
  });

  it("are not decided while a dialog covers them", async () => {
    const { cover } = renderTurn(...threeCalls());
    await waitUntilArmed();
    await moveToRequest(button("Deny all 3"));
    cover(true);
    await tick();
    await vi.advanceTimersByTimeAsync(ARMING_DELAY_MS);
    expect(isButtonBlocked("Allow these 3")).toBe(true);
    await pressKey("a", button("Deny all 3"));
    expect(sentDecisions()).toEqual([]);
  });

  it("have accessible names and an order for the keyboard, without axe violations", async () => {
    renderTurn(...threeCalls());
    await waitUntilArmed();
    expect(button("Deny all 3"), "the button to deny should be focused").toHaveFocus();
    expect(callCheckbox(1)).toBeChecked();
    const order = [
      callCheckbox(1),
      callCheckbox(2),
      callCheckbox(3),
      button("Deny all 3"),
      button("Allow these 3"),
    ];
    for (const [i, element] of order.entries()) {
      const next = order[i + 1];
      if (next)
        expect(element.compareDocumentPosition(next)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
    }
    expect(await accessibilityProblems()).toEqual([]);
  });
});

describe("the reason to review a call separately", () => {
  const flag = { reason: "hides_from_user", place: [], text: "" };
  it.each<[string, Partial<ConsentRequest>, string | null]>([
    ["is missing for a reviewed tool", {}, null],
    ["is a definition that was not compared", { marks: NO_REVIEW_MARKS }, "definition"],
    ["is a changed definition", { marks: { ...reviewed, review: "changed" } }, "definition"],
    [
      "is a definition to read",
      { body: { ...toolBody({}), definition: "{}" } as never },
      "definition",
    ],
    [
      "is a change since it was allowed",
      { body: { ...toolBody({}), changedSinceAllowed: true } as never },
      "definition",
    ],
    ["is an outdated list of tools", { marks: { ...reviewed, outdated: true } }, "warning"],
    ["is a flag in its definition", { marks: { ...reviewed, flags: [flag] } as never }, "warning"],
    [
      "is a name that looks like another one",
      { marks: { ...reviewed, lookAlikes: [{ server: "a", name: "b", isIdentical: true }] } },
      "warning",
    ],
    [
      "is content of another server",
      { origin: { ...model, untrustedServers: ["web"] } },
      "untrusted",
    ],
    [
      "is content of the same server",
      {
        origin: {
          ...model,
          sameServerReadings: [{ kind: "tool", name: "read", server: "files", openWorld: true }],
        },
      },
      "untrusted",
    ],
    ["is unknown content", { reason: "after-untrusted" }, "untrusted"],
    ["is a folded value", { body: toolBody({ text: "x".repeat(5_000) }) }, "long"],
    ["is a scope other than once", { scopes: ["always"] }, "scope"],
  ])("%s", (_, changes, reason) => {
    expect(reviewReason(call(1, changes) as ToolRequest)).toBe(reason);
  });
});
