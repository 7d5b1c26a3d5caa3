// The gate: each approving button requires a deliberate act after the whole payload was in view (E01, E19).
import { screen } from "@testing-library/svelte";
import { tick } from "svelte";
import { describe, expect, it, vi } from "vitest";

import { ARMING_DELAY } from "./arming.svelte";
import {
  consentRequest,
  samplingByModel,
  samplingRequest,
  samplingResponse,
  startServer,
} from "./fixtures";
import { answers, arm, blocked, button, click, eachWithHost, show } from "./test-harness.svelte";
import { consentStatus } from "./consent-status";

eachWithHost();

const request = consentRequest(samplingByModel());
const answered = (hash: string, again: boolean) => ({
  ...consentRequest(
    samplingByModel({
      step: "response",
      again,
      response: { content: [{ type: "text", text: "Paris." }], model: "m", stopReason: "endTurn" },
    }),
  ),
  hash,
});
const AGAIN = "Ask again";

describe("e01: to ask a model again", () => {
  it("is not offered after an answer by hand", async () => {
    show({ ...consentRequest(samplingResponse("Mine.")), hash: "h2" });
    await arm();
    expect(screen.queryByRole("button", { name: AGAIN }), "the model was not asked yet").toBeNull();
  });

  it("is locked where the request was not reviewed, however long one waits", async () => {
    show(answered("h2", true));
    await arm();
    expect(blocked(AGAIN), "it was not in view here").toBe(true);
    expect(screen.getByText(/Go back to the request and review/), "and why").toBeInTheDocument();
    await click(button(AGAIN));
    expect(answers(), "nothing is sent").toEqual([]);
  });

  it("arms anew, and sends what was reviewed and approved", async () => {
    const { set } = show(request);
    await arm();
    await click(button(/^Ask GPT/));
    set(answered("h2", true));
    await tick();
    expect(blocked(AGAIN), "what is shown is another").toBe(true);
    await click(button(AGAIN));
    expect(answers().length, "a click before that does nothing").toBe(1);
    await arm();
    expect(blocked(AGAIN), "then it can be used").toBe(false);
    await click(button(AGAIN), 2);
    expect(answers().length, "not by a double click").toBe(1);
    await click(button(AGAIN));
    expect(answers().at(-1)).toEqual({ id: "q1", hash: "h2", answer: { action: "again" } });
  });

  it("is locked once the request is another", async () => {
    const { set } = show(request);
    await arm();
    await click(button(/^Ask GPT/));
    const other = answered("h3", true);
    if (other.body.kind !== "sampling") throw new Error("it asks a model");
    other.body.request = { ...other.body.request, systemPrompt: "Never reviewed." };
    set(other);
    await tick();
    await arm();
    expect(blocked(AGAIN), "it was not in view").toBe(true);
  });

  it("keeps a long request locked by each way to the model", async () => {
    const long = samplingByModel();
    if (long.kind !== "sampling" || samplingRequest.kind !== "sampling")
      throw new Error("it asks a model");
    long.request = { ...samplingRequest.request, systemPrompt: "x".repeat(5_000) };
    const { controller, set } = show(consentRequest(long));
    await arm();
    expect(blocked(/^Ask GPT/), "the rest was not in view").toBe(true);
    await click(button("Answer it yourself"));
    set({ ...consentRequest(samplingResponse("")), hash: "h2" });
    await tick();
    await arm();
    await controller.retry(new MouseEvent("click"));
    expect(answers(), "there is no way past it").toEqual([
      { id: "q1", hash: "h1", answer: { action: "by_hand" } },
    ]);
  });
});

describe("e19: what ended by itself", () => {
  const ended = {
    ...consentRequest(startServer),
    why: { by: "ended" as const, cause: "signal 9" },
  };

  it("waits in the list, and comes in front when it is opened", async () => {
    const { controller } = show(ended);
    await vi.advanceTimersByTimeAsync(ARMING_DELAY);
    expect(screen.queryByTestId("question"), "it takes the focus from nobody").toBeNull();
    expect(controller.pending.length, "it is counted").toBe(1);
    controller.show(ended.id);
    await tick();
    expect(screen.getByTestId("question"), "it can be opened").toBeInTheDocument();
    expect(screen.getByText(/signal 9/), "and says why it asks").toBeInTheDocument();
    expect(consentStatus(controller).tone, "with the words of any other").toBe("plain");
  });

  it("does not come in front of what somebody waits for", async () => {
    const { controller } = show(ended, { ...consentRequest(samplingByModel()), id: "q2" });
    await tick();
    expect(controller.request?.id).toBe("q2");
  });
});

it("e01: answers are sent in one place, and approvals made in one", () => {
  const sources = import.meta.glob<string>(
    ["../**/*.ts", "../**/*.svelte", "!../**/*.test.ts", "!../lib/api/**"],
    {
      query: "?raw",
      import: "default",
      eager: true,
    },
  );
  const having = (text: string) =>
    Object.entries(sources)
      .filter(([path, source]) => source.includes(text) && !path.includes("harness"))
      .map(([path]) => path.split("/").at(-1));
  expect(having('"answer_question"')).toEqual(["decision-sender.svelte.ts"]);
  expect(having("new Approved(")).toEqual(["gate.ts"]);
  expect(having("Approved.fromEvent(")).toEqual(["consent-controller.svelte.ts"]);
});
