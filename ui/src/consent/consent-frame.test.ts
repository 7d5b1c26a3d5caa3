import { screen, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { tick } from "svelte";
import { describe, expect, it, vi } from "vitest";

import { CHARACTERS_PER_PAGE } from "$lib/format/text-pages";

import { ARMING_DELAY_MS } from "./arming.svelte";
import { formBody, consentRequest, rootsBody, toolBody, urlBody } from "./fixtures";
import {
  sentDecisions,
  waitUntilArmed,
  isButtonBlocked,
  button,
  clickElement,
  installFakeHostForEachTest,
  accessibilityProblems,
  host,
  pressKey,
  renderRequests,
} from "./test-harness.svelte";

installFakeHostForEachTest();

describe("a consent request", () => {
  it("focuses Deny and reports that it is drawn", async () => {
    renderRequests(consentRequest(toolBody({ path: "/x" })));
    await vi.advanceTimersByTimeAsync(100);
    expect(document.activeElement, "Deny has the focus").toBe(button("Deny"));
    expect(host.drawn, "reported once").toEqual(["q1"]);
    expect(screen.getByRole("dialog").getAttribute("aria-modal"), "it is modal").toBe("true");
  });

  it("names the server, the reason, the payload and the rule", () => {
    renderRequests(
      consentRequest(toolBody({ path: "/home/ann/plan.md" }), {
        why: { by: "call", call: "c", kind: "tool", name: "organize" },
      }),
    );
    const dialog = within(screen.getByTestId("question"));
    expect(
      dialog.getByRole("heading", { level: 2 }).textContent?.replace(/\s+/g, " ").trim(),
      "who and what",
    ).toBe("Run write_file on files?");
    for (const text of [
      /npx -y @modelcontextprotocol/,
      /organize/,
      /Sends to files/,
      "/home/ann/plan.md",
      /tools need approval/,
    ]) {
      expect(dialog.getByText(text), `shows ${text}`).toBeInTheDocument();
    }
  });

  it("sends nothing while it is arming, and exactly what was shown once armed", async () => {
    renderRequests(
      consentRequest(toolBody({ path: "/x" }), { scopes: ["once", "session", "always"] }),
    );
    expect(isButtonBlocked("Allow once"), "Allow is not armed at first").toBe(true);
    await clickElement(button("Allow once"));
    await pressKey("a");
    expect(sentDecisions(), "neither a click nor A approves while arming").toEqual([]);
    await waitUntilArmed();
    expect(isButtonBlocked("Allow once"), "armed after the quiet").toBe(false);
    await clickElement(button("Allow once"));
    expect(sentDecisions(), "the answer is bound to the hash").toEqual([
      { id: "q1", hash: "h1", answer: { action: "allow", scope: "once" } },
    ]);
  });

  it("arms anew when the hash changes under the pointer", async () => {
    const { set } = renderRequests(consentRequest(toolBody({ path: "/x" })));
    await waitUntilArmed();
    set(consentRequest(toolBody({ path: "/etc/passwd" }), { hash: "h2" }));
    await tick();
    await clickElement(button("Allow once"));
    expect(
      sentDecisions(),
      "the click that was meant for the old arguments approves nothing",
    ).toEqual([]);
    await waitUntilArmed();
    await clickElement(button("Allow once"));
    expect(sentDecisions(), "then the new hash is approved").toMatchObject([{ hash: "h2" }]);
  });

  it("is not approved by a double click or a held key", async () => {
    renderRequests(consentRequest(toolBody({ path: "/x" })));
    await waitUntilArmed();
    await clickElement(button("Allow once"), 2);
    await pressKey("a", document.body, { repeat: true });
    expect(sentDecisions(), "nothing was approved").toEqual([]);
    const allow = button("Allow once");
    const held = new KeyboardEvent("keydown", {
      key: "Enter",
      repeat: true,
      bubbles: true,
      cancelable: true,
    });
    allow.dispatchEvent(held);
    expect(held.defaultPrevented, "a held Enter does not press the button again").toBe(true);
  });

  it("takes A and D once armed, and Escape for cancel", async () => {
    const first = renderRequests(consentRequest(toolBody({ path: "/x" })));
    await pressKey("d");
    expect(sentDecisions(), "D waits for the arming too").toEqual([]);
    await waitUntilArmed();
    await pressKey("d");
    first.set();
    await waitUntilArmed();
    first.set(consentRequest(urlBody, { id: "q2" }));
    await waitUntilArmed();
    await pressKey("a");
    first.set(consentRequest(rootsBody, { id: "q3" }));
    await waitUntilArmed();
    await pressKey("Escape");
    expect(sentDecisions(), "deny, allow, cancel").toEqual([
      { id: "q1", hash: "h1", answer: { action: "deny" } },
      { id: "q2", hash: "h1", answer: { action: "allow", scope: "once" } },
      { id: "q3", hash: "h1", answer: { action: "cancel" } },
    ]);
  });

  it("is not refused by what was meant for the one before, or for something else", async () => {
    const { set } = renderRequests(consentRequest(urlBody));
    await waitUntilArmed();
    await clickElement(button("Decline"));
    set(consentRequest(formBody, { id: "q2", server: "innocent" }));
    await tick();
    expect(document.activeElement, "Decline has the focus").toBe(button("Decline"));
    expect(button("Decline"), "and says that it does not count yet").toHaveAttribute(
      "aria-disabled",
      "true",
    );
    await clickElement(button("Decline"), 2, true);
    await clickElement(button("Decline"));
    await clickElement(button("Cancel"));
    await clickElement(button("Cancel this request"));
    await pressKey("Escape");
    await pressKey("d");
    await vi.advanceTimersByTimeAsync(ARMING_DELAY_MS - 100);
    // As in a browser, Space activates the focused button.
    await pressKey(" ", button("Decline"));
    button("Decline").click();
    await vi.advanceTimersByTimeAsync(ARMING_DELAY_MS - 100);
    await pressKey("Escape");
    expect(sentDecisions(), "only the first was refused").toMatchObject([{ id: "q1" }]);
    await waitUntilArmed();
    await clickElement(button("Decline"), 2);
    expect(sentDecisions().length, "a double click never counts").toBe(1);
    await clickElement(button("Decline"));
    expect(sentDecisions().at(-1), "then one click does").toMatchObject({
      id: "q2",
      answer: { action: "deny" },
    });
  });

  it("can be denied at once while the same request changes", async () => {
    const { set } = renderRequests(consentRequest(toolBody({ path: "/x" })));
    await waitUntilArmed();
    set(consentRequest(toolBody({ path: "/y" }), { hash: "h2" }));
    await tick();
    await clickElement(button("Deny"), 1, true);
    expect(sentDecisions(), "no change of it keeps the user from refusing").toMatchObject([
      { hash: "h2", answer: { action: "deny" } },
    ]);
  });

  it("says why a click does not count where the pointer rested, and takes one elsewhere", async () => {
    const { set } = renderRequests(consentRequest(urlBody));
    await waitUntilArmed();
    await clickElement(button("Open in the browser"));
    set(consentRequest(toolBody({ path: "/x" }), { id: "q2" }));
    await waitUntilArmed();
    await clickElement(button("Allow once"), 1, true);
    expect(sentDecisions().length, "what came to lie under it was not aimed at").toBe(1);
    expect(
      screen.getAllByRole("status").map((status) => status.textContent?.trim()),
      "said, to readers too",
    ).toContain("The dialog moved under your pointer; move it, then click.");
    await clickElement(button("Allow once"));
    expect(sentDecisions().at(-1), "a press elsewhere was").toMatchObject({ id: "q2" });
  });

  it("takes no way to allow from the menu before that was open for a while", async () => {
    renderRequests(
      consentRequest(toolBody({ path: "/x" }), { scopes: ["once", "session", "always"] }),
    );
    await waitUntilArmed();
    const user = userEvent.setup({ advanceTimers: vi.advanceTimersByTime, delay: null });
    button("More ways to allow").focus();
    await user.keyboard("{Enter}");
    await vi.advanceTimersByTimeAsync(ARMING_DELAY_MS / 2);
    const always = () => screen.getByRole("menuitem", { name: "Always allow this tool" });
    expect(always(), "shown, and not yet to be taken").toHaveAttribute("aria-disabled", "true");
    await user.keyboard("{Enter}");
    await user.click(always());
    expect(sentDecisions(), "a quick second press grants nothing").toEqual([]);
    await waitUntilArmed();
    await user.click(always());
    expect(sentDecisions(), "after a while it does").toMatchObject([
      { answer: { action: "allow", scope: "always" } },
    ]);
  });

  it("of 100,010 characters can be allowed once all parts of it were drawn (X14)", async () => {
    const { controller } = renderRequests(
      consentRequest(toolBody({ bulk: "z".repeat(2 * CHARACTERS_PER_PAGE + 10) })),
    );
    await waitUntilArmed();
    await clickElement(button("Show all of bulk"));
    await tick();
    expect(controller.blocker, "the first part alone").toEqual({
      is: "unread",
      hidden: CHARACTERS_PER_PAGE + 10,
    });
    await clickElement(button("Last"));
    await tick();
    expect(controller.blocker, "the last does not stand for those between").toEqual({
      is: "unread",
      hidden: CHARACTERS_PER_PAGE,
    });
    await clickElement(button("Previous"));
    await tick();
    expect(controller.blocker, "all were drawn").toBeNull();
    await clickElement(button("Allow once"));
    expect(sentDecisions().length, "then it can be allowed").toBe(1);
  });

  it("stays open after a click outside", async () => {
    renderRequests(consentRequest(toolBody({ path: "/x" })));
    await waitUntilArmed();
    await clickElement(document.querySelector(".consent-scrim") as Element);
    await vi.advanceTimersByTimeAsync(100);
    expect(sentDecisions(), "no answer").toEqual([]);
    expect(screen.getByTestId("question"), "still there").toBeInTheDocument();
  });

  it("blocks Allow until hidden characters were opened (X14)", async () => {
    renderRequests(consentRequest(toolBody({ content: `${"\n".repeat(12_000)}rm -rf ~` })));
    await waitUntilArmed();
    expect(
      screen.getByText(/Show the rest \([\d,]+ characters\) to allow/),
      "the number is said",
    ).toBeInTheDocument();
    await pressKey("a");
    await clickElement(button("Allow once"));
    expect(sentDecisions(), "nothing is sent unread").toEqual([]);
    await clickElement(button("Show all of content"));
    await tick();
    expect(screen.getByText(/rm -rf ~/), "the payload is in view").toBeInTheDocument();
    expect(isButtonBlocked("Allow once"), "then it can be allowed").toBe(false);
  });

  it("blocks Allow until the definition of a tool that nobody has seen was opened (X01)", async () => {
    const definition = JSON.stringify({ outputSchema: { note: "x".repeat(4_096) } }, null, 2);
    const body = toolBody({ path: "/x" });
    const { set } = renderRequests(consentRequest({ ...body, definition } as typeof body));
    await waitUntilArmed();
    expect(isButtonBlocked("Allow once"), "to allow it is to have seen it").toBe(true);
    await clickElement(button("Show all of the definition"));
    await tick();
    expect(isButtonBlocked("Allow once"), "all of it was open").toBe(false);
    set(consentRequest({ ...body, definition: `${definition} ` } as typeof body));
    await waitUntilArmed();
    expect(isButtonBlocked("Allow once"), "another one was not").toBe(true);
    await clickElement(button("Allow once"));
    expect(sentDecisions(), "and nothing is sent").toEqual([]);
    set(consentRequest(body));
    await waitUntilArmed();
    expect(isButtonBlocked("Allow once"), "one that was seen is not shown again").toBe(false);
  });

  it("shows a definition of usual length whole, with nothing to open", async () => {
    const words = { note: "x".repeat(3_000), last: "its end" };
    const body = toolBody({ path: "/x" });
    renderRequests(
      consentRequest({ ...body, definition: JSON.stringify(words, null, 2) } as typeof body),
    );
    await waitUntilArmed();
    expect(screen.getByText(/its end/), "to its last character").toBeInTheDocument();
    expect(screen.queryByText(/characters are not shown/)).toBeNull();
    expect(isButtonBlocked("Allow once")).toBe(false);
  });

  it("blocks Allow until a definition of many short lines was opened", async () => {
    const body = toolBody({ path: "/x" });
    const definition = JSON.stringify({ lines: Array.from({ length: 100 }, () => "") }, null, 2);
    renderRequests(consentRequest({ ...body, definition } as typeof body));
    await waitUntilArmed();
    expect(button("Show all of the definition")).toBeInTheDocument();
    expect(isButtonBlocked("Allow once")).toBe(true);
  });

  it("says that it changed when the answer was stale, and arms anew", async () => {
    host.handlers.answer_question = () => {
      throw { code: "stale", message: "changed" };
    };
    renderRequests(consentRequest(toolBody({ path: "/x" })));
    await waitUntilArmed();
    await clickElement(button("Allow once"));
    expect(screen.getByRole("alert").textContent?.trim(), "said in words").toBe(
      "This request changed. Review it again.",
    );
    expect(isButtonBlocked("Allow once"), "armed anew").toBe(true);
  });

  it("can be decided while the answer to the one before is on its way", async () => {
    let arrive: () => void = () => undefined;
    host.handlers.answer_question = ({ id }: { id: string }) =>
      id === "q1" ? new Promise<object>((resolve) => (arrive = () => resolve({}))) : {};
    const { set } = renderRequests(consentRequest(toolBody({ path: "/x" })));
    await waitUntilArmed();
    await clickElement(button("Allow once"));
    expect(
      screen.getByText("Sending your decision."),
      "said while it is on its way",
    ).toBeInTheDocument();
    // The event that closes the request arrives before the response of the command.
    set(consentRequest(rootsBody, { id: "q2" }));
    await tick();
    await waitUntilArmed();
    expect(screen.queryByText("Sending your decision."), "nothing of the next one is").toBeNull();
    expect(isButtonBlocked("Share 1 folder"), "it arms like any other").toBe(false);
    await pressKey("Escape");
    expect(sentDecisions(), "the key is not lost").toMatchObject([
      { id: "q1", answer: { action: "allow" } },
      { id: "q2", answer: { action: "cancel" } },
    ]);
    arrive();
  });

  it("is not answered twice", async () => {
    host.handlers.answer_question = () => new Promise(() => undefined);
    renderRequests(consentRequest(toolBody({ path: "/x" })));
    await waitUntilArmed();
    await clickElement(button("Allow once"));
    await pressKey("Escape");
    await clickElement(button("Deny"));
    expect(sentDecisions(), "one answer").toMatchObject([{ answer: { action: "allow" } }]);
  });

  it("says why an answer was not taken where that was, and nowhere else", async () => {
    let refuse: () => void = () => undefined;
    host.handlers.answer_question = () =>
      new Promise<object>((_, reject) => {
        refuse = () => reject({ code: "internal", message: "the disk is full" });
      });
    const one = consentRequest(toolBody({ path: "/x" }));
    const two = consentRequest(rootsBody, { id: "q2" });
    renderRequests(one, two);
    await waitUntilArmed();
    await clickElement(button("Deny"));
    await clickElement(button("Next request"));
    await waitUntilArmed();
    refuse();
    await tick();
    await vi.advanceTimersByTimeAsync(0);
    expect(screen.queryByRole("alert"), "the one in front was not refused").toBeNull();
    expect(isButtonBlocked("Share 1 folder"), "and stays armed").toBe(false);
    await clickElement(button("Next request"));
    expect(screen.getByRole("alert"), "said where it belongs").toHaveTextContent(
      "the disk is full",
    );
  });

  it("lists the others, and keeps the current one when more arrive", async () => {
    const one = consentRequest(toolBody({ path: "/x" }), { id: "a" });
    const two = consentRequest(rootsBody, { id: "b" });
    const { set } = renderRequests(one, two);
    expect(screen.getByText("1 of 2"), "counted").toBeInTheDocument();
    set(one, two, consentRequest(urlBody, { id: "c" }));
    await tick();
    expect(screen.getByText("1 of 3"), "the first stays in front").toBeInTheDocument();
    await clickElement(button("Next request"));
    expect(screen.getByText("2 of 3"), "the next one").toBeInTheDocument();
    expect(document.activeElement, "with Deny focused").toBe(button("Deny"));
    expect(isButtonBlocked("Share 1 folder"), "and arming").toBe(true);
  });

  it("lists a flood as one row, to be denied at once", async () => {
    const flood = Array.from({ length: 8 }, (_, i) =>
      consentRequest(urlBody, { id: `u${i}`, server: "noisy" }),
    );
    renderRequests(consentRequest(rootsBody), ...flood);
    await clickElement(button("Show all"));
    const noisy = within(screen.getByRole("region", { name: "noisy" }));
    expect(noisy.queryAllByRole("listitem"), "folded").toEqual([]);
    expect(noisy.getByText(/8 requests/), "counted").toBeInTheDocument();
    await clickElement(noisy.getByRole("button", { name: /and mute/ }));
    expect(host.sent.at(-1), "denied and muted").toEqual([
      "deny_all",
      { server: "noisy", mute: true },
    ]);
    expect(await accessibilityProblems(), "axe finds nothing in the list").toEqual([]);
  });
});
