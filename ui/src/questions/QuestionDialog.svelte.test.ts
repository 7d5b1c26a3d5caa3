import { cleanup, render, screen, within } from "@testing-library/svelte";
import { tick } from "svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Question, QuestionBody } from "$lib/api/generated";
import { setPlatform } from "$lib/platform";
import { axeProblems } from "$lib/testing/axe";

import { QUIET } from "./arming.svelte";
import {
  form,
  question,
  roots,
  samplingRequest,
  samplingResponse,
  startServer,
  tool,
  url,
} from "./fixtures";
import { Front } from "./front.svelte";
import QuestionDialog from "./QuestionDialog.svelte";

type Handler = (request: never) => unknown;

let sent: [string, unknown][];
let drawn: string[];
let handlers: Record<string, Handler>;

function show(...questions: Question[]) {
  let all = $state.raw(questions);
  const front = new Front(() => all);
  render(QuestionDialog, { front });
  return { front, set: (...next: Question[]) => (all = next) };
}

const button = (name: string | RegExp) => screen.getByRole("button", { name });
const blocked = (name: string | RegExp) => button(name).getAttribute("aria-disabled") === "true";
const answers = () =>
  sent.filter(([name]) => name === "answer_question").map(([, request]) => request);

async function arm() {
  await vi.advanceTimersByTimeAsync(QUIET);
  await tick();
}

/** Presses and lets go of a key, as a keyboard does. */
async function press(
  key: string,
  on: Element = document.activeElement ?? document.body,
  more: KeyboardEventInit = {},
) {
  on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
  on.dispatchEvent(new KeyboardEvent("keyup", { key, bubbles: true, cancelable: true }));
  await vi.advanceTimersByTimeAsync(0);
}

/** A click as a mouse makes it; `count` is 2 for the second one of a double click. */
async function click(element: Element, count = 1) {
  element.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true, button: 0 }));
  element.dispatchEvent(new PointerEvent("pointerup", { bubbles: true, button: 0 }));
  element.dispatchEvent(
    new MouseEvent("click", { bubbles: true, cancelable: true, detail: count }),
  );
  await vi.advanceTimersByTimeAsync(0);
}

async function type(field: HTMLElement, text: string) {
  (field as HTMLInputElement).value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  await tick();
}

async function faults() {
  vi.useRealTimers();
  return axeProblems();
}

beforeEach(() => {
  vi.useFakeTimers();
  sent = [];
  drawn = [];
  handlers = { check_form: () => ({ problems: [] }) };
  setPlatform({
    call: async (name, request) => {
      sent.push([name, request]);
      return handlers[name]?.(request as never) ?? {};
    },
    listen: async () => undefined,
    painted: () => undefined,
    questionDrawn: (id) => drawn.push(id),
  });
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

describe("a question", () => {
  it("has Deny focused and is told to be drawn", async () => {
    show(question(tool({ path: "/x" })));
    await vi.advanceTimersByTimeAsync(100);
    expect(document.activeElement, "Deny has the focus").toBe(button("Deny"));
    expect(drawn, "its drawing was told once").toEqual(["q1"]);
    expect(screen.getByRole("dialog").getAttribute("aria-modal"), "it is modal").toBe("true");
  });

  it("says who asks, why, what crosses and by which rule", () => {
    show(
      question(tool({ path: "/home/ann/plan.md" }), {
        why: { by: "call", call: "c", kind: "tool", name: "organize" },
      }),
    );
    const dialog = within(screen.getByTestId("question"));
    expect(
      dialog.getByRole("heading", { level: 2 }).textContent?.replace(/\s+/g, " ").trim(),
      "who and what",
    ).toBe("files wants to run a tool");
    for (const text of [
      /npx -y @modelcontextprotocol/,
      /organize/,
      /Sends to files/,
      "/home/ann/plan.md",
      /tools ask before/,
    ]) {
      expect(dialog.getByText(text), `shows ${text}`).toBeInTheDocument();
    }
  });

  it("sends nothing while it is arming, and exactly what was shown once armed", async () => {
    show(question(tool({ path: "/x" }), { scopes: ["once", "session", "always"] }));
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
    const { set } = show(question(tool({ path: "/x" })));
    await arm();
    set(question(tool({ path: "/etc/passwd" }), { hash: "h2" }));
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
    show(question(tool({ path: "/x" })));
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
    const first = show(question(tool({ path: "/x" })));
    await press("d");
    expect(answers(), "D waits for the arming too").toEqual([]);
    await arm();
    await press("d");
    first.set();
    await arm();
    first.set(question(url, { id: "q2" }));
    await arm();
    await press("a");
    first.set(question(roots, { id: "q3" }));
    await tick();
    await press("Escape");
    expect(answers(), "deny, allow, cancel").toEqual([
      { id: "q1", hash: "h1", answer: { action: "deny" } },
      { id: "q2", hash: "h1", answer: { action: "allow", scope: "once" } },
      { id: "q3", hash: "h1", answer: { action: "cancel" } },
    ]);
  });

  it("stays when something beside it is clicked", async () => {
    show(question(tool({ path: "/x" })));
    await arm();
    await click(document.querySelector(".question-scrim") as Element);
    await vi.advanceTimersByTimeAsync(100);
    expect(answers(), "no answer").toEqual([]);
    expect(screen.getByTestId("question"), "still there").toBeInTheDocument();
  });

  it("blocks Allow until hidden characters were opened (X14)", async () => {
    show(question(tool({ content: `${"\n".repeat(12_000)}rm -rf ~` })));
    await arm();
    expect(
      screen.getByText(/hidden characters: open them/),
      "the number is said",
    ).toBeInTheDocument();
    await press("a");
    await click(button("Allow once"));
    expect(answers(), "nothing crosses unread").toEqual([]);
    await click(button("Show all of content"));
    await tick();
    expect(screen.getByText(/rm -rf ~/), "the payload is in view").toBeInTheDocument();
    expect(blocked("Allow once"), "then it can be allowed").toBe(false);
  });

  it("says that it changed when the answer was stale, and arms anew", async () => {
    handlers.answer_question = () => {
      throw { code: "stale", message: "changed" };
    };
    show(question(tool({ path: "/x" })));
    await arm();
    await click(button("Allow once"));
    expect(screen.getByRole("alert").textContent?.trim(), "said in words").toBe(
      "This question changed. Look at it again.",
    );
    expect(blocked("Allow once"), "armed anew").toBe(true);
  });

  it("shows the others on wish, and keeps the one in front when more come", async () => {
    const one = question(tool({ path: "/x" }), { id: "a" });
    const two = question(roots, { id: "b" });
    const { set } = show(one, two);
    expect(screen.getByText("1 of 2"), "counted").toBeInTheDocument();
    set(one, two, question(url, { id: "c" }));
    await tick();
    expect(screen.getByText("1 of 3"), "the first stays in front").toBeInTheDocument();
    await click(button("Next question"));
    expect(screen.getByText("2 of 3"), "the next one").toBeInTheDocument();
    expect(document.activeElement, "with Deny focused").toBe(button("Deny"));
    expect(blocked("Share 1 folder"), "and arming").toBe(true);
  });

  it("lists a flood as one row, to be denied at once", async () => {
    const flood = Array.from({ length: 8 }, (_, i) =>
      question(url, { id: `u${i}`, server: "noisy" }),
    );
    show(question(roots), ...flood);
    await click(button("Show all"));
    const noisy = within(screen.getByRole("region", { name: "noisy" }));
    expect(noisy.queryAllByRole("listitem"), "folded").toEqual([]);
    expect(noisy.getByText(/8 questions/), "counted").toBeInTheDocument();
    await click(noisy.getByRole("button", { name: /also those to come/ }));
    expect(sent.at(-1), "denied and muted").toEqual(["deny_all", { server: "noisy", mute: true }]);
    expect(await faults(), "axe finds nothing in the list").toEqual([]);
  });
});

describe("every kind", () => {
  const kinds: [string, QuestionBody][] = [
    ["start_server", startServer],
    [
      "start_server, changed",
      { ...startServer, approvedBefore: "npx -y other /home/ann" } as QuestionBody,
    ],
    ["tool", tool({ path: "/x", deep: { list: [1, 2] }, none: null })],
    ["tool without arguments", tool({})],
    ["sampling request", samplingRequest],
    ["sampling answer to write", samplingResponse("")],
    ["sampling answer to review", samplingResponse("Paris.")],
    ["form", form],
    ["unsupported form", { ...form, fields: [], unsupported: "nested objects" } as QuestionBody],
    ["url", url],
    ["roots", roots],
    ["no roots", { kind: "roots", folders: [] }],
  ];

  it.each(kinds)("%s: axe finds nothing", async (_, body) => {
    show(question(body, { scopes: ["once", "session", "always"] }));
    await vi.advanceTimersByTimeAsync(QUIET);
    expect(await faults(), "no violations").toEqual([]);
  });

  it("start: every argument whole on its own row, and what changed marked", () => {
    const long = "x".repeat(4_000);
    const body = {
      ...startServer,
      args: ["-y", long],
      approvedBefore: "npx -y old",
    } as QuestionBody;
    show(question(body, { commandLine: "npx -y new", scopes: ["once", "always"] }));
    expect(
      screen.getByText(long),
      "X58: 4 kB of arguments are shown untruncated",
    ).toBeInTheDocument();
    expect(document.querySelector("del")?.textContent, "what was there").toContain("old");
    expect(document.querySelector("ins")?.textContent, "what is there now").toContain("new");
    expect(
      button("Always allow this command"),
      "the longer approval has its button",
    ).toBeInTheDocument();
  });

  it("tool: can be edited, comes back with another hash, and can't be allowed meanwhile", async () => {
    const edited = question(tool({ path: "/y" }), { hash: "h2" });
    handlers.edit_question = () => edited;
    const { front } = show(question(tool({ path: "/x" })));
    await arm();
    await click(button("Change what is sent"));
    expect(blocked("Allow once"), "not while it is being changed").toBe(true);
    await type(screen.getByRole("textbox", { name: /path/ }), "/y");
    await click(button("Use these changes"));
    expect(sent.find(([name]) => name === "edit_question")?.[1], "the change is sent").toEqual({
      id: "q1",
      edit: { change: "arguments", arguments: { path: "/y" } },
    });
    expect(front.question?.hash, "the changed question is in front").toBe("h2");
    expect(blocked("Allow once"), "and armed anew").toBe(true);
  });

  it("sampling: the answer is written, reviewed, and sent as reviewed", async () => {
    handlers.edit_question = (request: { edit: { response: { content: { text: string }[] } } }) =>
      question(samplingResponse(request.edit.response.content[0]?.text ?? ""), { hash: "h2" });
    show(question(samplingResponse("")));
    await arm();
    expect(blocked("Send the answer"), "nothing to send yet").toBe(true);
    await type(screen.getByLabelText("Your answer"), "A cat.");
    await click(button("Review the answer"));
    await tick();
    expect(
      screen.getByText(/Sends to files as the model's answer/),
      "what goes back is shown",
    ).toBeInTheDocument();
    expect(screen.getByText("A cat."), "as it was written").toBeInTheDocument();
    await arm();
    await click(button("Send the answer"));
    expect(answers(), "bound to the reviewed answer").toMatchObject([
      { hash: "h2", answer: { action: "allow" } },
    ]);
  });

  it("form: defaults are there, problems are said in our words, and what is filled in is sent", async () => {
    handlers.check_form = (request: { content: Record<string, unknown> }) => ({
      problems: request.content.name ? [] : [{ field: "name", problem: "required", limit: null }],
    });
    show(question(form));
    await arm();
    expect((screen.getByLabelText(/^age/) as HTMLInputElement).value, "a default").toBe("30");
    expect(
      screen.getByLabelText("Your name (required)"),
      "our word for required",
    ).toBeInTheDocument();
    expect(
      screen.getByText(/looks like a secret\. Servers may not/),
      "X21: a warning",
    ).toBeInTheDocument();
    await click(button("Accept and send"));
    expect(answers(), "not sent with a problem").toEqual([]);
    expect(screen.getByText("Fill this in."), "the problem in our words").toBeInTheDocument();
    await type(screen.getByLabelText("Your name (required)"), "Ann");
    await click(screen.getByLabelText("Red"));
    await arm();
    await click(button("Accept and send"));
    expect(answers(), "the content").toMatchObject([
      {
        answer: {
          action: "submit",
          content: { name: "Ann", age: 30, news: true, size: "m", colours: ["r"] },
        },
      },
    ]);
  });

  it("form: accept, decline and cancel are three things", async () => {
    const { set } = show(question(form));
    await arm();
    await click(button("Decline"));
    set(question(form, { id: "q2" }));
    await tick();
    await click(button("Cancel"));
    expect(answers(), "decline and cancel").toMatchObject([
      { answer: { action: "deny" } },
      { answer: { action: "cancel" } },
    ]);
  });

  it("form: what can't be shown can only be declined or cancelled", async () => {
    show(question({ ...form, unsupported: "nested objects" } as QuestionBody));
    await arm();
    await press("a");
    expect(screen.queryByRole("button", { name: /Accept/ }), "no way to accept").toBeNull();
    expect(answers(), "nothing is sent").toEqual([]);
  });

  it("url: whole, with its domain, its plain letters and its warnings", () => {
    show(question(url));
    const shown = document.querySelector(".url");
    expect(shown?.textContent?.trim(), "X23: the whole address").toBe(
      "http://login.éxample.com/path?x=1",
    );
    expect(shown?.querySelector("strong")?.textContent, "the domain is strong").toBe("éxample.com");
    expect(screen.getByText(/xn--xample-9ua/), "in plain letters").toBeInTheDocument();
    expect(screen.getAllByRole("listitem").length, "both warnings").toBe(2);
    expect(document.querySelector("a"), "it is no link").toBeNull();
  });

  it("url: one that can't be opened offers no way to open it", async () => {
    const body = {
      ...url,
      url: { ...(url as Extract<QuestionBody, { kind: "url" }>).url, openable: false },
    } as QuestionBody;
    show(question(body));
    await arm();
    await press("a");
    expect(screen.queryByRole("button", { name: /Open in the browser/ }), "no button").toBeNull();
    expect(answers(), "no key").toEqual([]);
  });

  it("roots: folders are added by the dialog, removed, or none are shared", async () => {
    handlers.pick_folder = () => ({ folder: "/home/ann/more" });
    show(question(roots));
    await click(button("Add a folder"));
    expect(screen.getByText("/home/ann/more"), "added").toBeInTheDocument();
    await click(button("Remove /home/ann/trip"));
    await arm();
    await click(button("Share 1 folder"));
    expect(answers(), "exactly the folders that are left").toMatchObject([
      { answer: { action: "share", folders: ["/home/ann/more"] } },
    ]);
  });

  it("a server's words are quoted text, never markup", () => {
    show(question(form));
    const quoted = document.querySelector("blockquote");
    expect(quoted?.textContent, "X22: as it came").toContain("**App: click Accept to continue**");
    expect(quoted?.querySelector("strong, button, a"), "no markup of its own").toBeNull();
  });
});
