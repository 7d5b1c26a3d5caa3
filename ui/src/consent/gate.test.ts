// The gate: each approving button requires a deliberate act after the whole payload was in view (E01, E19).
import { screen } from "@testing-library/svelte";
import { tick } from "svelte";
import { describe, expect, it, vi } from "vitest";

import { ARMING_DELAY_MS } from "./arming.svelte";
import {
  consentRequest,
  samplingBodyWithModel,
  samplingRequestBody,
  samplingResponseBody,
  startServerBody,
} from "./fixtures";
import {
  sentDecisions,
  waitUntilArmed,
  isButtonBlocked,
  button,
  clickElement,
  installFakeHostForEachTest,
  renderRequests,
} from "./test-harness.svelte";
import { consentStatus } from "./consent-status";

installFakeHostForEachTest();

const request = consentRequest(samplingBodyWithModel());
const answered = (hash: string, again: boolean) => ({
  ...consentRequest(
    samplingBodyWithModel({
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
    renderRequests({ ...consentRequest(samplingResponseBody("Mine.")), hash: "h2" });
    await waitUntilArmed();
    expect(screen.queryByRole("button", { name: AGAIN }), "the model was not asked yet").toBeNull();
  });

  it("is locked where the request was not reviewed, however long one waits", async () => {
    renderRequests(answered("h2", true));
    await waitUntilArmed();
    expect(isButtonBlocked(AGAIN), "it was not in view here").toBe(true);
    expect(screen.getByText(/Go back to the request and review/), "and why").toBeInTheDocument();
    await clickElement(button(AGAIN));
    expect(sentDecisions(), "nothing is sent").toEqual([]);
  });

  it("arms anew, and sends what was reviewed and approved", async () => {
    const { set } = renderRequests(request);
    await waitUntilArmed();
    await clickElement(button(/^Ask GPT/));
    set(answered("h2", true));
    await tick();
    expect(isButtonBlocked(AGAIN), "what is shown is another").toBe(true);
    await clickElement(button(AGAIN));
    expect(sentDecisions().length, "a click before that does nothing").toBe(1);
    await waitUntilArmed();
    expect(isButtonBlocked(AGAIN), "then it can be used").toBe(false);
    await clickElement(button(AGAIN), 2);
    expect(sentDecisions().length, "not by a double click").toBe(1);
    await clickElement(button(AGAIN));
    expect(sentDecisions().at(-1)).toEqual({ id: "q1", hash: "h2", answer: { action: "again" } });
  });

  it("is locked once the request is another", async () => {
    const { set } = renderRequests(request);
    await waitUntilArmed();
    await clickElement(button(/^Ask GPT/));
    const other = answered("h3", true);
    if (other.body.kind !== "sampling") throw new Error("it asks a model");
    other.body.request = { ...other.body.request, systemPrompt: "Never reviewed." };
    set(other);
    await tick();
    await waitUntilArmed();
    expect(isButtonBlocked(AGAIN), "it was not in view").toBe(true);
  });

  it("keeps a long request locked by each way to the model", async () => {
    const long = samplingBodyWithModel();
    if (long.kind !== "sampling" || samplingRequestBody.kind !== "sampling")
      throw new Error("it asks a model");
    long.request = { ...samplingRequestBody.request, systemPrompt: "x".repeat(5_000) };
    const { controller, set } = renderRequests(consentRequest(long));
    await waitUntilArmed();
    expect(isButtonBlocked(/^Ask GPT/), "the rest was not in view").toBe(true);
    await clickElement(button("Answer it yourself"));
    set({ ...consentRequest(samplingResponseBody("")), hash: "h2" });
    await tick();
    await waitUntilArmed();
    await controller.retry(new MouseEvent("click"));
    expect(sentDecisions(), "there is no way past it").toEqual([
      { id: "q1", hash: "h1", answer: { action: "by_hand" } },
    ]);
  });
});

describe("e19: what ended by itself", () => {
  const ended = {
    ...consentRequest(startServerBody),
    why: { by: "ended" as const, cause: "signal 9" },
  };

  it("waits in the list, and comes in front when it is opened", async () => {
    const { controller } = renderRequests(ended);
    await vi.advanceTimersByTimeAsync(ARMING_DELAY_MS);
    expect(screen.queryByTestId("question"), "it takes the focus from nobody").toBeNull();
    expect(controller.pending.length, "it is counted").toBe(1);
    controller.show(ended.id);
    await tick();
    expect(screen.getByTestId("question"), "it can be opened").toBeInTheDocument();
    expect(screen.getByText(/signal 9/), "and says why it asks").toBeInTheDocument();
    expect(consentStatus(controller).tone, "with the words of any other").toBe("plain");
  });

  it("does not come in front of what somebody waits for", async () => {
    const { controller } = renderRequests(ended, {
      ...consentRequest(samplingBodyWithModel()),
      id: "q2",
    });
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
  expect(having("new ApprovedDecision(")).toEqual(["gate.ts"]);
  expect(having("ApprovedDecision.fromEvent(")).toEqual(["consent-controller.svelte.ts"]);
});
