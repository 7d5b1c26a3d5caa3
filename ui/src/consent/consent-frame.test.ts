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
  moveToRequest,
  pressInRequest,
  pressKey,
  renderRequests,
} from "./test-harness.svelte";

installFakeHostForEachTest();

describe("a consent request", () => {
  it("focuses Deny and reports that it was rendered", async () => {
    renderRequests(consentRequest(toolBody({ path: "/x" })));
    await vi.advanceTimersByTimeAsync(100);
    expect(document.activeElement, "Deny should be focused").toBe(button("Deny"));
    expect(host.drawn, "the rendering should be reported once").toEqual(["q1"]);
    expect(
      screen.getByRole("dialog").getAttribute("aria-modal"),
      "the dialog should be modal",
    ).toBe("true");
  });

  it("names the server, the reason, the payload and the rule", () => {
    renderRequests(
      consentRequest(toolBody({ path: "/home/ann/plan.md" }), {
        origin: { by: "call", call: "c", kind: "tool", name: "organize", conversation: null },
      }),
    );
    const dialog = within(screen.getByTestId("consent-request"));
    expect(
      dialog.getByRole("heading", { level: 2 }).textContent?.replace(/\s+/g, " ").trim(),
      "the title should name the tool and the server",
    ).toBe("Run write_file on files?");
    for (const text of [
      /npx -y @modelcontextprotocol/,
      /organize/,
      /Sends to files/,
      "/home/ann/plan.md",
      /tools need approval/,
    ]) {
      expect(dialog.getByText(text), `the request should show ${text}`).toBeInTheDocument();
    }
  });

  it("sends nothing while it is arming, and exactly the shown request once it is armed", async () => {
    renderRequests(
      consentRequest(toolBody({ path: "/x" }), { scopes: ["once", "session", "always"] }),
    );
    expect(isButtonBlocked("Allow once"), "Allow should be disabled at first").toBe(true);
    await clickElement(button("Allow once"));
    await pressInRequest("a");
    expect(sentDecisions(), "neither a click nor the shortcut should approve while arming").toEqual(
      [],
    );
    await waitUntilArmed();
    expect(isButtonBlocked("Allow once"), "Allow should be enabled after the quiet period").toBe(
      false,
    );
    await clickElement(button("Allow once"));
    expect(sentDecisions(), "the decision should be bound to the hash").toEqual([
      { id: "q1", hash: "h1", answer: { action: "allow", scope: "once" } },
    ]);
  });

  it("is armed again when the hash changes under the pointer", async () => {
    const { set } = renderRequests(consentRequest(toolBody({ path: "/x" })));
    await waitUntilArmed();
    set(consentRequest(toolBody({ path: "/etc/passwd" }), { hash: "h2" }));
    await tick();
    await clickElement(button("Allow once"));
    expect(sentDecisions(), "a click for the previous arguments should approve nothing").toEqual(
      [],
    );
    await waitUntilArmed();
    await clickElement(button("Allow once"));
    expect(sentDecisions(), "the new hash should be approved").toMatchObject([{ hash: "h2" }]);
  });

  it("is not approved by a double click or a repeated key", async () => {
    renderRequests(consentRequest(toolBody({ path: "/x" })));
    await waitUntilArmed();
    await clickElement(button("Allow once"), 2);
    await moveToRequest();
    await pressKey("a", document.body, { repeat: true });
    expect(sentDecisions(), "nothing should be approved").toEqual([]);
    const allow = button("Allow once");
    const repeated = new KeyboardEvent("keydown", {
      key: "Enter",
      repeat: true,
      bubbles: true,
      cancelable: true,
    });
    allow.dispatchEvent(repeated);
    expect(repeated.defaultPrevented, "a repeated Enter should not press the button again").toBe(
      true,
    );
  });

  it("accepts A and D once armed", async () => {
    const first = renderRequests(consentRequest(toolBody({ path: "/x" })));
    await pressInRequest("d");
    expect(sentDecisions(), "D should have no effect while arming").toEqual([]);
    await waitUntilArmed();
    await pressKey("d");
    first.set();
    await waitUntilArmed();
    first.set(consentRequest(urlBody, { id: "q2" }));
    await waitUntilArmed();
    await pressInRequest("a");
    expect(sentDecisions(), "the decisions should be deny and allow").toEqual([
      { id: "q1", hash: "h1", answer: { action: "deny" } },
      { id: "q2", hash: "h1", answer: { action: "allow", scope: "once" } },
    ]);
  });

  it("is not denied by input for the previous request or for another element", async () => {
    const { set } = renderRequests(consentRequest(urlBody));
    await waitUntilArmed();
    await clickElement(button("Decline"));
    set(consentRequest(formBody, { id: "q2", server: "innocent" }));
    await tick();
    expect(document.activeElement, "Decline should be focused").toBe(button("Decline"));
    expect(button("Decline"), "Decline should be disabled at first").toHaveAttribute(
      "aria-disabled",
      "true",
    );
    await clickElement(button("Decline"), 2, true);
    await clickElement(button("Decline"));
    await clickElement(button("Cancel"));
    await clickElement(button("Decide later"));
    await pressKey("Escape");
    await pressInRequest("d");
    await vi.advanceTimersByTimeAsync(ARMING_DELAY_MS - 100);
    // Space activates the focused button, as in a browser.
    await pressKey(" ", button("Decline"));
    button("Decline").click();
    await vi.advanceTimersByTimeAsync(ARMING_DELAY_MS - 100);
    await pressKey("Escape");
    expect(sentDecisions(), "only the first request should be denied").toMatchObject([
      { id: "q1" },
    ]);
    await waitUntilArmed();
    await clickElement(button("Decline"), 2);
    expect(sentDecisions().length, "a double click should not deny the second request").toBe(1);
    await clickElement(button("Decline"));
    expect(sentDecisions().at(-1), "a single click should deny the second request").toMatchObject({
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
    expect(sentDecisions(), "a change should not delay a denial").toMatchObject([
      { hash: "h2", answer: { action: "deny" } },
    ]);
  });

  it("explains why a click where the pointer rested is ignored, and accepts one elsewhere", async () => {
    const { set } = renderRequests(consentRequest(urlBody));
    await waitUntilArmed();
    await clickElement(button("Open in the browser"));
    set(consentRequest(toolBody({ path: "/x" }), { id: "q2" }));
    await waitUntilArmed();
    await clickElement(button("Allow once"), 1, true);
    expect(
      sentDecisions().length,
      "a click on content that moved under the pointer should be ignored",
    ).toBe(1);
    expect(
      screen.getAllByRole("status").map((status) => status.textContent?.trim()),
      "the reason should be announced as a status",
    ).toContain("The dialog moved under your pointer. Move the pointer, then click.");
    await clickElement(button("Allow once"));
    expect(sentDecisions().at(-1), "a click elsewhere should be accepted").toMatchObject({
      id: "q2",
    });
  });

  it("accepts an entry of the menu only after the menu was open for a while", async () => {
    renderRequests(
      consentRequest(toolBody({ path: "/x" }), { scopes: ["once", "session", "always"] }),
    );
    await waitUntilArmed();
    const user = userEvent.setup({ advanceTimers: vi.advanceTimersByTime, delay: null });
    button("More ways to allow").focus();
    await user.keyboard("{Enter}");
    await vi.advanceTimersByTimeAsync(ARMING_DELAY_MS / 2);
    const always = () => screen.getByRole("menuitem", { name: "Always allow this tool" });
    expect(always(), "the entry should be disabled at first").toHaveAttribute(
      "aria-disabled",
      "true",
    );
    await user.keyboard("{Enter}");
    await user.click(always());
    expect(sentDecisions(), "a quick second press should grant nothing").toEqual([]);
    await waitUntilArmed();
    await user.click(always());
    expect(sentDecisions(), "the entry should be accepted after a while").toMatchObject([
      { answer: { action: "allow", scope: "always" } },
    ]);
  });

  it("allows 100,010 characters once all parts were rendered (X14)", async () => {
    const { controller } = renderRequests(
      consentRequest(toolBody({ bulk: "z".repeat(2 * CHARACTERS_PER_PAGE + 10) })),
    );
    await waitUntilArmed();
    await clickElement(button("Show all of bulk"));
    await tick();
    expect(controller.blocker, "the first part should not be sufficient").toEqual({
      is: "unread",
      hidden: CHARACTERS_PER_PAGE + 10,
    });
    await clickElement(button("Last"));
    await tick();
    expect(controller.blocker, "the last part should not replace the parts between").toEqual({
      is: "unread",
      hidden: CHARACTERS_PER_PAGE,
    });
    await clickElement(button("Previous"));
    await tick();
    expect(controller.blocker, "all parts should be sufficient").toBeNull();
    await clickElement(button("Allow once"));
    expect(sentDecisions().length, "the request should be allowed").toBe(1);
  });

  it("keeps the focus on the button that expands a value", async () => {
    renderRequests(consentRequest(toolBody({ content: "z".repeat(12_000) })));
    await waitUntilArmed();
    button("Show all of content").focus();
    await clickElement(button("Show all of content"));
    await tick();
    expect(button("Show less of content"), "the focus should not be lost").toHaveFocus();
  });

  it("stays open after a click outside", async () => {
    renderRequests(consentRequest(toolBody({ path: "/x" })));
    await waitUntilArmed();
    await clickElement(document.querySelector(".consent-scrim") as Element);
    await vi.advanceTimersByTimeAsync(100);
    expect(sentDecisions(), "there should be no decision").toEqual([]);
    expect(
      screen.getByTestId("consent-request"),
      "the request should still be shown",
    ).toBeInTheDocument();
  });

  it("blocks Allow until hidden characters were expanded (X14)", async () => {
    renderRequests(consentRequest(toolBody({ content: `${"\n".repeat(12_000)}rm -rf ~` })));
    await waitUntilArmed();
    expect(
      screen.getByText(/Show the rest \([\d,]+ characters\) to allow/),
      "the number of characters should be shown",
    ).toBeInTheDocument();
    await pressInRequest("a");
    await clickElement(button("Allow once"));
    expect(sentDecisions(), "nothing should be sent before everything was read").toEqual([]);
    await clickElement(button("Show all of content"));
    await tick();
    expect(screen.getByText(/rm -rf ~/), "the payload should be in view").toBeInTheDocument();
    expect(isButtonBlocked("Allow once"), "Allow should be enabled once everything was read").toBe(
      false,
    );
  });

  it("blocks Allow until the definition of an unreviewed tool was expanded (X01)", async () => {
    const definition = JSON.stringify({ outputSchema: { note: "x".repeat(4_096) } }, null, 2);
    const body = toolBody({ path: "/x" });
    const { set } = renderRequests(consentRequest({ ...body, definition } as typeof body));
    await waitUntilArmed();
    expect(
      isButtonBlocked("Allow once"),
      "Allow should be disabled before the definition was viewed",
    ).toBe(true);
    await clickElement(button("Show all of the definition"));
    await tick();
    expect(
      isButtonBlocked("Allow once"),
      "Allow should be enabled once the definition was viewed",
    ).toBe(false);
    set(consentRequest({ ...body, definition: `${definition} ` } as typeof body));
    await waitUntilArmed();
    expect(isButtonBlocked("Allow once"), "Allow should be disabled for another definition").toBe(
      true,
    );
    await clickElement(button("Allow once"));
    expect(sentDecisions(), "nothing should be sent").toEqual([]);
    set(consentRequest(body));
    await waitUntilArmed();
    expect(
      isButtonBlocked("Allow once"),
      "the definition of a reviewed tool should not be required",
    ).toBe(false);
  });

  it("shows a definition of usual length completely", async () => {
    const words = { note: "x".repeat(3_000), last: "its end" };
    const body = toolBody({ path: "/x" });
    renderRequests(
      consentRequest({ ...body, definition: JSON.stringify(words, null, 2) } as typeof body),
    );
    await waitUntilArmed();
    expect(
      screen.getByText(/its end/),
      "the definition should be shown to its end",
    ).toBeInTheDocument();
    expect(screen.queryByText(/characters are not shown/)).toBeNull();
    expect(isButtonBlocked("Allow once")).toBe(false);
  });

  it("blocks Allow until a definition of many short lines was expanded", async () => {
    const body = toolBody({ path: "/x" });
    const definition = JSON.stringify({ lines: Array.from({ length: 100 }, () => "") }, null, 2);
    renderRequests(consentRequest({ ...body, definition } as typeof body));
    await waitUntilArmed();
    expect(button("Show all of the definition")).toBeInTheDocument();
    expect(isButtonBlocked("Allow once")).toBe(true);
  });

  it("reports that it changed if the decision was stale, and is armed again", async () => {
    host.handlers.decide_consent_request = () => {
      throw { code: "stale", message: "changed" };
    };
    renderRequests(consentRequest(toolBody({ path: "/x" })));
    await waitUntilArmed();
    await clickElement(button("Allow once"));
    expect(screen.getByRole("alert").textContent?.trim(), "the change should be reported").toBe(
      "This request changed. Review it again.",
    );
    expect(isButtonBlocked("Allow once"), "the request should be armed again").toBe(true);
  });

  it("can be decided while the response to the previous decision is pending", async () => {
    let arrive: () => void = () => undefined;
    host.handlers.decide_consent_request = ({ id }: { id: string }) =>
      id === "q1" ? new Promise<object>((resolve) => (arrive = () => resolve({}))) : {};
    const { set } = renderRequests(consentRequest(toolBody({ path: "/x" })));
    await waitUntilArmed();
    await clickElement(button("Allow once"));
    expect(
      screen.getByText("Sending your decision."),
      "the pending decision should be shown",
    ).toBeInTheDocument();
    // The event that closes the request arrives before the response of the command.
    set(consentRequest(rootsBody, { id: "q2" }));
    await tick();
    await waitUntilArmed();
    expect(
      screen.queryByText("Sending your decision."),
      "the next request should not be shown as pending",
    ).toBeNull();
    expect(isButtonBlocked("Share none"), "the next request should be armed as usual").toBe(false);
    await pressInRequest("d");
    expect(sentDecisions(), "the key should decide the next request").toMatchObject([
      { id: "q1", answer: { action: "allow" } },
      { id: "q2", answer: { action: "deny" } },
    ]);
    arrive();
  });

  it("is not decided twice", async () => {
    host.handlers.decide_consent_request = () => new Promise(() => undefined);
    renderRequests(consentRequest(toolBody({ path: "/x" })));
    await waitUntilArmed();
    await clickElement(button("Allow once"));
    await pressKey("Escape");
    await clickElement(button("Deny"));
    expect(sentDecisions(), "one decision should be sent").toMatchObject([
      { answer: { action: "allow" } },
    ]);
  });

  it("shows why a decision was rejected at its request only", async () => {
    let refuse: () => void = () => undefined;
    host.handlers.decide_consent_request = () =>
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
    expect(screen.queryByRole("alert"), "the current request should show no error").toBeNull();
    expect(isButtonBlocked("Share none"), "the current request should stay armed").toBe(false);
    await clickElement(button("Next request"));
    expect(
      screen.getByRole("alert"),
      "the rejected request should show the error",
    ).toHaveTextContent("the disk is full");
  });

  it("lists the other requests, and stays current when more arrive", async () => {
    const one = consentRequest(toolBody({ path: "/x" }), { id: "a" });
    const two = consentRequest(rootsBody, { id: "b" });
    const { set } = renderRequests(one, two);
    expect(screen.getByText("1 of 2"), "the requests should be counted").toBeInTheDocument();
    set(one, two, consentRequest(urlBody, { id: "c" }));
    await tick();
    expect(screen.getByText("1 of 3"), "the first request should stay current").toBeInTheDocument();
    await clickElement(button("Next request"));
    expect(screen.getByText("2 of 3"), "the next request should be shown").toBeInTheDocument();
    expect(document.activeElement, "Deny should be focused").toBe(button("Deny"));
    expect(isButtonBlocked("Share none"), "the next request should be arming").toBe(true);
  });

  it("lists a flood as one row that can be denied at once", async () => {
    const flood = Array.from({ length: 8 }, (_, i) =>
      consentRequest(urlBody, { id: `u${i}`, server: "noisy" }),
    );
    renderRequests(consentRequest(rootsBody), ...flood);
    await clickElement(button("Show all"));
    const noisy = within(screen.getByRole("region", { name: "noisy" }));
    expect(noisy.queryAllByRole("listitem"), "the row should be collapsed").toEqual([]);
    expect(noisy.getByText(/8 requests/), "the requests should be counted").toBeInTheDocument();
    await clickElement(noisy.getByRole("button", { name: /and mute/ }));
    expect(host.sent.at(-1), "the server should be denied and muted").toEqual([
      "deny_all_consent_requests",
      { server: "noisy", mute: true },
    ]);
    expect(await accessibilityProblems(), "axe should find no violations in the list").toEqual([]);
  });
});
