import { screen, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { tick } from "svelte";
import { describe, expect, it, vi } from "vitest";

import { PAGE } from "$lib/format/text-pages";

import { ARMING_DELAY } from "./arming.svelte";
import { form, consentRequest, roots, tool, url } from "./fixtures";
import {
  answers,
  arm,
  blocked,
  button,
  click,
  eachWithHost,
  faults,
  host,
  press,
  show,
} from "./test-harness.svelte";

eachWithHost();

describe("a consent request", () => {
  it("focuses Deny and reports that it is drawn", async () => {
    show(consentRequest(tool({ path: "/x" })));
    await vi.advanceTimersByTimeAsync(100);
    expect(document.activeElement, "Deny has the focus").toBe(button("Deny"));
    expect(host.drawn, "reported once").toEqual(["q1"]);
    expect(screen.getByRole("dialog").getAttribute("aria-modal"), "it is modal").toBe("true");
  });

  it("names the server, the reason, the payload and the rule", () => {
    show(
      consentRequest(tool({ path: "/home/ann/plan.md" }), {
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
    show(consentRequest(tool({ path: "/x" }), { scopes: ["once", "session", "always"] }));
    expect(blocked("Allow once"), "Allow is not armed at first").toBe(true);
    await click(button("Allow once"));
    await press("a");
    expect(answers(), "neither a click nor A approves while arming").toEqual([]);
    await arm();
    expect(blocked("Allow once"), "armed after the quiet").toBe(false);
    await click(button("Allow once"));
    expect(answers(), "the answer is bound to the hash").toEqual([
      { id: "q1", hash: "h1", answer: { action: "allow", scope: "once" } },
    ]);
  });

  it("arms anew when the hash changes under the pointer", async () => {
    const { set } = show(consentRequest(tool({ path: "/x" })));
    await arm();
    set(consentRequest(tool({ path: "/etc/passwd" }), { hash: "h2" }));
    await tick();
    await click(button("Allow once"));
    expect(answers(), "the click that was meant for the old arguments approves nothing").toEqual(
      [],
    );
    await arm();
    await click(button("Allow once"));
    expect(answers(), "then the new hash is approved").toMatchObject([{ hash: "h2" }]);
  });

  it("is not approved by a double click or a held key", async () => {
    show(consentRequest(tool({ path: "/x" })));
    await arm();
    await click(button("Allow once"), 2);
    await press("a", document.body, { repeat: true });
    expect(answers(), "nothing was approved").toEqual([]);
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
    const first = show(consentRequest(tool({ path: "/x" })));
    await press("d");
    expect(answers(), "D waits for the arming too").toEqual([]);
    await arm();
    await press("d");
    first.set();
    await arm();
    first.set(consentRequest(url, { id: "q2" }));
    await arm();
    await press("a");
    first.set(consentRequest(roots, { id: "q3" }));
    await arm();
    await press("Escape");
    expect(answers(), "deny, allow, cancel").toEqual([
      { id: "q1", hash: "h1", answer: { action: "deny" } },
      { id: "q2", hash: "h1", answer: { action: "allow", scope: "once" } },
      { id: "q3", hash: "h1", answer: { action: "cancel" } },
    ]);
  });

  it("is not refused by what was meant for the one before, or for something else", async () => {
    const { set } = show(consentRequest(url));
    await arm();
    await click(button("Decline"));
    set(consentRequest(form, { id: "q2", server: "innocent" }));
    await tick();
    expect(document.activeElement, "Decline has the focus").toBe(button("Decline"));
    expect(button("Decline"), "and says that it does not count yet").toHaveAttribute(
      "aria-disabled",
      "true",
    );
    await click(button("Decline"), 2, true);
    await click(button("Decline"));
    await click(button("Cancel"));
    await click(button("Cancel this request"));
    await press("Escape");
    await press("d");
    await vi.advanceTimersByTimeAsync(ARMING_DELAY - 100);
    // As in a browser, Space activates the focused button.
    await press(" ", button("Decline"));
    button("Decline").click();
    await vi.advanceTimersByTimeAsync(ARMING_DELAY - 100);
    await press("Escape");
    expect(answers(), "only the first was refused").toMatchObject([{ id: "q1" }]);
    await arm();
    await click(button("Decline"), 2);
    expect(answers().length, "a double click never counts").toBe(1);
    await click(button("Decline"));
    expect(answers().at(-1), "then one click does").toMatchObject({
      id: "q2",
      answer: { action: "deny" },
    });
  });

  it("can be denied at once while the same request changes", async () => {
    const { set } = show(consentRequest(tool({ path: "/x" })));
    await arm();
    set(consentRequest(tool({ path: "/y" }), { hash: "h2" }));
    await tick();
    await click(button("Deny"), 1, true);
    expect(answers(), "no change of it keeps the user from refusing").toMatchObject([
      { hash: "h2", answer: { action: "deny" } },
    ]);
  });

  it("says why a click does not count where the pointer rested, and takes one elsewhere", async () => {
    const { set } = show(consentRequest(url));
    await arm();
    await click(button("Open in the browser"));
    set(consentRequest(tool({ path: "/x" }), { id: "q2" }));
    await arm();
    await click(button("Allow once"), 1, true);
    expect(answers().length, "what came to lie under it was not aimed at").toBe(1);
    expect(
      screen.getAllByRole("status").map((status) => status.textContent?.trim()),
      "said, to readers too",
    ).toContain("The dialog moved under your pointer; move it, then click.");
    await click(button("Allow once"));
    expect(answers().at(-1), "a press elsewhere was").toMatchObject({ id: "q2" });
  });

  it("takes no way to allow from the menu before that was open for a while", async () => {
    show(consentRequest(tool({ path: "/x" }), { scopes: ["once", "session", "always"] }));
    await arm();
    const user = userEvent.setup({ advanceTimers: vi.advanceTimersByTime, delay: null });
    button("More ways to allow").focus();
    await user.keyboard("{Enter}");
    await vi.advanceTimersByTimeAsync(ARMING_DELAY / 2);
    const always = () => screen.getByRole("menuitem", { name: "Always allow this tool" });
    expect(always(), "shown, and not yet to be taken").toHaveAttribute("aria-disabled", "true");
    await user.keyboard("{Enter}");
    await user.click(always());
    expect(answers(), "a quick second press grants nothing").toEqual([]);
    await arm();
    await user.click(always());
    expect(answers(), "after a while it does").toMatchObject([
      { answer: { action: "allow", scope: "always" } },
    ]);
  });

  it("of 100,010 characters can be allowed once all parts of it were drawn (X14)", async () => {
    const { controller } = show(consentRequest(tool({ bulk: "z".repeat(2 * PAGE + 10) })));
    await arm();
    await click(button("Show all of bulk"));
    await tick();
    expect(controller.blocker, "the first part alone").toEqual({ is: "unread", hidden: PAGE + 10 });
    await click(button("Last"));
    await tick();
    expect(controller.blocker, "the last does not stand for those between").toEqual({
      is: "unread",
      hidden: PAGE,
    });
    await click(button("Previous"));
    await tick();
    expect(controller.blocker, "all were drawn").toBeNull();
    await click(button("Allow once"));
    expect(answers().length, "then it can be allowed").toBe(1);
  });

  it("stays open after a click outside", async () => {
    show(consentRequest(tool({ path: "/x" })));
    await arm();
    await click(document.querySelector(".consent-scrim") as Element);
    await vi.advanceTimersByTimeAsync(100);
    expect(answers(), "no answer").toEqual([]);
    expect(screen.getByTestId("question"), "still there").toBeInTheDocument();
  });

  it("blocks Allow until hidden characters were opened (X14)", async () => {
    show(consentRequest(tool({ content: `${"\n".repeat(12_000)}rm -rf ~` })));
    await arm();
    expect(
      screen.getByText(/Show the rest \([\d,]+ characters\) to allow/),
      "the number is said",
    ).toBeInTheDocument();
    await press("a");
    await click(button("Allow once"));
    expect(answers(), "nothing is sent unread").toEqual([]);
    await click(button("Show all of content"));
    await tick();
    expect(screen.getByText(/rm -rf ~/), "the payload is in view").toBeInTheDocument();
    expect(blocked("Allow once"), "then it can be allowed").toBe(false);
  });

  it("blocks Allow until the definition of a tool that nobody has seen was opened (X01)", async () => {
    const definition = JSON.stringify({ outputSchema: { note: "x".repeat(4_096) } }, null, 2);
    const body = tool({ path: "/x" });
    const { set } = show(consentRequest({ ...body, definition } as typeof body));
    await arm();
    expect(blocked("Allow once"), "to allow it is to have seen it").toBe(true);
    await click(button("Show all of the definition"));
    await tick();
    expect(blocked("Allow once"), "all of it was open").toBe(false);
    set(consentRequest({ ...body, definition: `${definition} ` } as typeof body));
    await arm();
    expect(blocked("Allow once"), "another one was not").toBe(true);
    await click(button("Allow once"));
    expect(answers(), "and nothing is sent").toEqual([]);
    set(consentRequest(body));
    await arm();
    expect(blocked("Allow once"), "one that was seen is not shown again").toBe(false);
  });

  it("shows a definition of usual length whole, with nothing to open", async () => {
    const words = { note: "x".repeat(3_000), last: "its end" };
    const body = tool({ path: "/x" });
    show(consentRequest({ ...body, definition: JSON.stringify(words, null, 2) } as typeof body));
    await arm();
    expect(screen.getByText(/its end/), "to its last character").toBeInTheDocument();
    expect(screen.queryByText(/characters are not shown/)).toBeNull();
    expect(blocked("Allow once")).toBe(false);
  });

  it("blocks Allow until a definition of many short lines was opened", async () => {
    const body = tool({ path: "/x" });
    const definition = JSON.stringify({ lines: Array.from({ length: 100 }, () => "") }, null, 2);
    show(consentRequest({ ...body, definition } as typeof body));
    await arm();
    expect(button("Show all of the definition")).toBeInTheDocument();
    expect(blocked("Allow once")).toBe(true);
  });

  it("says that it changed when the answer was stale, and arms anew", async () => {
    host.handlers.answer_question = () => {
      throw { code: "stale", message: "changed" };
    };
    show(consentRequest(tool({ path: "/x" })));
    await arm();
    await click(button("Allow once"));
    expect(screen.getByRole("alert").textContent?.trim(), "said in words").toBe(
      "This request changed. Review it again.",
    );
    expect(blocked("Allow once"), "armed anew").toBe(true);
  });

  it("can be decided while the answer to the one before is on its way", async () => {
    let arrive: () => void = () => undefined;
    host.handlers.answer_question = ({ id }: { id: string }) =>
      id === "q1" ? new Promise<object>((resolve) => (arrive = () => resolve({}))) : {};
    const { set } = show(consentRequest(tool({ path: "/x" })));
    await arm();
    await click(button("Allow once"));
    expect(
      screen.getByText("Sending your decision."),
      "said while it is on its way",
    ).toBeInTheDocument();
    // The event that closes the request arrives before the response of the command.
    set(consentRequest(roots, { id: "q2" }));
    await tick();
    await arm();
    expect(screen.queryByText("Sending your decision."), "nothing of the next one is").toBeNull();
    expect(blocked("Share 1 folder"), "it arms like any other").toBe(false);
    await press("Escape");
    expect(answers(), "the key is not lost").toMatchObject([
      { id: "q1", answer: { action: "allow" } },
      { id: "q2", answer: { action: "cancel" } },
    ]);
    arrive();
  });

  it("is not answered twice", async () => {
    host.handlers.answer_question = () => new Promise(() => undefined);
    show(consentRequest(tool({ path: "/x" })));
    await arm();
    await click(button("Allow once"));
    await press("Escape");
    await click(button("Deny"));
    expect(answers(), "one answer").toMatchObject([{ answer: { action: "allow" } }]);
  });

  it("says why an answer was not taken where that was, and nowhere else", async () => {
    let refuse: () => void = () => undefined;
    host.handlers.answer_question = () =>
      new Promise<object>((_, reject) => {
        refuse = () => reject({ code: "internal", message: "the disk is full" });
      });
    const one = consentRequest(tool({ path: "/x" }));
    const two = consentRequest(roots, { id: "q2" });
    show(one, two);
    await arm();
    await click(button("Deny"));
    await click(button("Next request"));
    await arm();
    refuse();
    await tick();
    await vi.advanceTimersByTimeAsync(0);
    expect(screen.queryByRole("alert"), "the one in front was not refused").toBeNull();
    expect(blocked("Share 1 folder"), "and stays armed").toBe(false);
    await click(button("Next request"));
    expect(screen.getByRole("alert"), "said where it belongs").toHaveTextContent(
      "the disk is full",
    );
  });

  it("lists the others, and keeps the current one when more arrive", async () => {
    const one = consentRequest(tool({ path: "/x" }), { id: "a" });
    const two = consentRequest(roots, { id: "b" });
    const { set } = show(one, two);
    expect(screen.getByText("1 of 2"), "counted").toBeInTheDocument();
    set(one, two, consentRequest(url, { id: "c" }));
    await tick();
    expect(screen.getByText("1 of 3"), "the first stays in front").toBeInTheDocument();
    await click(button("Next request"));
    expect(screen.getByText("2 of 3"), "the next one").toBeInTheDocument();
    expect(document.activeElement, "with Deny focused").toBe(button("Deny"));
    expect(blocked("Share 1 folder"), "and arming").toBe(true);
  });

  it("lists a flood as one row, to be denied at once", async () => {
    const flood = Array.from({ length: 8 }, (_, i) =>
      consentRequest(url, { id: `u${i}`, server: "noisy" }),
    );
    show(consentRequest(roots), ...flood);
    await click(button("Show all"));
    const noisy = within(screen.getByRole("region", { name: "noisy" }));
    expect(noisy.queryAllByRole("listitem"), "folded").toEqual([]);
    expect(noisy.getByText(/8 requests/), "counted").toBeInTheDocument();
    await click(noisy.getByRole("button", { name: /and mute/ }));
    expect(host.sent.at(-1), "denied and muted").toEqual([
      "deny_all",
      { server: "noisy", mute: true },
    ]);
    expect(await faults(), "axe finds nothing in the list").toEqual([]);
  });
});
