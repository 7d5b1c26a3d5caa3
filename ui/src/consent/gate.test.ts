// The gate: each approving button requires a deliberate act after the whole payload was in view.
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
const requestWithResponse = (hash: string, canRerun: boolean) => ({
  ...consentRequest(
    samplingBodyWithModel({
      step: "response",
      canRerun,
      response: { content: [{ type: "text", text: "Paris." }], model: "m", stopReason: "endTurn" },
    }),
  ),
  hash,
});
const ASK_AGAIN_LABEL = "Ask again";

describe("requesting another answer from a model", () => {
  it("E1: is not offered after a manual answer", async () => {
    renderRequests({ ...consentRequest(samplingResponseBody("Mine.")), hash: "h2" });
    await waitUntilArmed();
    expect(
      screen.queryByRole("button", { name: ASK_AGAIN_LABEL }),
      "the button should not be offered before the model answered",
    ).toBeNull();
  });

  it("E1: stays disabled if the request was not reviewed", async () => {
    renderRequests(requestWithResponse("h2", true));
    await waitUntilArmed();
    expect(
      isButtonBlocked(ASK_AGAIN_LABEL),
      "the button should be disabled before the review",
    ).toBe(true);
    expect(
      screen.getByText(/Go back to the request and review/),
      "the reason should be shown",
    ).toBeInTheDocument();
    await clickElement(button(ASK_AGAIN_LABEL));
    expect(sentDecisions(), "nothing should be sent").toEqual([]);
  });

  it("E1: is armed again, and sends the request that was reviewed and approved", async () => {
    const { set } = renderRequests(request);
    await waitUntilArmed();
    await clickElement(button(/^Ask GPT/));
    set(requestWithResponse("h2", true));
    await tick();
    expect(
      isButtonBlocked(ASK_AGAIN_LABEL),
      "the button should be disabled after the step changed",
    ).toBe(true);
    await clickElement(button(ASK_AGAIN_LABEL));
    expect(sentDecisions().length, "an early click should have no effect").toBe(1);
    await waitUntilArmed();
    expect(
      isButtonBlocked(ASK_AGAIN_LABEL),
      "the button should be enabled after the quiet period",
    ).toBe(false);
    await clickElement(button(ASK_AGAIN_LABEL), 2);
    expect(sentDecisions().length, "a double click should have no effect").toBe(1);
    await clickElement(button(ASK_AGAIN_LABEL));
    expect(sentDecisions().at(-1)).toEqual({
      id: "q1",
      hash: "h2",
      answer: { action: "rerun_model" },
    });
  });

  it("E1: is disabled once the request changed", async () => {
    const { set } = renderRequests(request);
    await waitUntilArmed();
    await clickElement(button(/^Ask GPT/));
    const other = requestWithResponse("h3", true);
    if (other.body.kind !== "sampling") throw new Error("expected a sampling request");
    other.body.request = { ...other.body.request, systemPrompt: "Never reviewed." };
    set(other);
    await tick();
    await waitUntilArmed();
    expect(
      isButtonBlocked(ASK_AGAIN_LABEL),
      "the button should be disabled for the changed request",
    ).toBe(true);
  });

  it("E1: keeps every way to send a long unread request to the model disabled", async () => {
    const long = samplingBodyWithModel();
    if (long.kind !== "sampling" || samplingRequestBody.kind !== "sampling")
      throw new Error("expected a sampling request");
    long.request = { ...samplingRequestBody.request, systemPrompt: "x".repeat(5_000) };
    const { controller, set } = renderRequests(consentRequest(long));
    await waitUntilArmed();
    expect(
      isButtonBlocked(/^Ask GPT/),
      "the button should be disabled until everything was viewed",
    ).toBe(true);
    await clickElement(button("Answer it yourself"));
    set({ ...consentRequest(samplingResponseBody("")), hash: "h2" });
    await tick();
    await waitUntilArmed();
    await controller.retry(new MouseEvent("click"));
    expect(sentDecisions(), "only the manual answer should be sent").toEqual([
      { id: "q1", hash: "h1", answer: { action: "write_response" } },
    ]);
  });
});

describe("a request after a server exited unexpectedly", () => {
  const ended = {
    ...consentRequest(startServerBody),
    origin: { by: "ended" as const, cause: "signal 9" },
  };

  it("E19: waits in the list, and is shown when it is selected", async () => {
    const { controller } = renderRequests(ended);
    await vi.advanceTimersByTimeAsync(ARMING_DELAY_MS);
    expect(
      screen.queryByTestId("consent-request"),
      "the request should not be shown automatically",
    ).toBeNull();
    expect(controller.pending.length, "the request should be listed").toBe(1);
    controller.show(ended.id);
    await tick();
    expect(
      screen.getByTestId("consent-request"),
      "the selected request should be shown",
    ).toBeInTheDocument();
    expect(screen.getByText(/signal 9/), "the reason should be shown").toBeInTheDocument();
    expect(consentStatus(controller).tone, "the request should have no special style").toBe(
      "plain",
    );
  });

  it("E19: does not precede a request that a user waits for", async () => {
    const { controller } = renderRequests(ended, {
      ...consentRequest(samplingBodyWithModel()),
      id: "q2",
    });
    await tick();
    expect(controller.request?.id).toBe("q2");
  });
});

it("E1: decisions are sent in one place, and approvals are created in one place", () => {
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
  expect(having('"decide_consent_request"')).toEqual(["decision-sender.svelte.ts"]);
  expect(having("new ApprovedDecision(")).toEqual(["gate.ts"]);
  expect(having("ApprovedDecision.fromEvent(")).toEqual(["consent-controller.svelte.ts"]);
});
