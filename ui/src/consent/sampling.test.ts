// Sampling requests: the chosen model, its streamed response, and the actions on the response.
import { screen } from "@testing-library/svelte";
import { tick } from "svelte";
import { describe, expect, it, vi } from "vitest";

import type { JsonValue, Message, ModelChoiceReason, ConsentRequestBody } from "$lib/api/generated";

import { ARMING_DELAY_MS } from "./arming.svelte";
import { consentRequest, samplingBodyWithModel, samplingRequestBody } from "./fixtures";
import {
  sentDecisions,
  waitUntilArmed,
  isButtonBlocked,
  button,
  clickElement,
  installFakeHostForEachTest,
  accessibilityProblems,
  host,
  renderRequests,
} from "./test-harness.svelte";
import { titleLabel } from "./consent-labels";
import { modelChoiceReason } from "./sampling-labels";

installFakeHostForEachTest();

const answeredBody = samplingBodyWithModel({
  step: "response",
  response: {
    content: [{ type: "text", text: "Paris." }],
    model: "gpt-5.2",
    stopReason: "endTurn",
  },
  run: { is: "done", inputTokens: 1_200, outputTokens: 30, micros: 4_500, noToolUsed: false },
});
const runningBody = samplingBodyWithModel({
  step: "running",
  run: { is: "running", text: "Pa", thinking: false },
});

describe("a request to a model", () => {
  const bodies: [string, ConsentRequestBody][] = [
    ["request", samplingBodyWithModel()],
    [
      "failed",
      samplingBodyWithModel({
        run: { is: "failed", code: "overloaded", message: "Too much to do." },
      }),
    ],
    [
      "capped, with losses",
      samplingBodyWithModel({
        requestedTokens: 1_000_000_000,
        losses: [{ feature: "audio", conversion: "leaveOut" }],
      }),
    ],
    ["running", runningBody],
    ["answer", answeredBody],
    ["stopped", { ...answeredBody, run: { is: "stopped" } } as ConsentRequestBody],
  ];

  it("E27: a message can be removed, but not the last one", async () => {
    const body = samplingBodyWithModel();
    renderRequests(consentRequest(body));
    host.handlers.edit_consent_request = () => consentRequest(body, { hash: "edited" });
    await waitUntilArmed();
    await clickElement(button("Edit the request"));
    await clickElement(button("Remove message 2"));
    await clickElement(button("Remove message 3"));
    expect(
      screen.queryByRole("button", { name: "Remove message 1" }),
      "the last message should stay",
    ).toBeNull();
    await clickElement(button("Restore message 3"));
    await clickElement(button("Use these changes"));
    const [, request] = host.sent.find(([name]) => name === "edit_consent_request") ?? [];
    const messages = body.kind === "sampling" ? body.request.messages : [];
    expect(request, "the remaining messages should be sent").toMatchObject({
      edit: { change: "request", request: { messages: [messages[0], messages[2]] } },
    });
  });

  it("E27: names the content of a message without text", async () => {
    renderRequests(consentRequest(samplingBodyWithModel()));
    await waitUntilArmed();
    await clickElement(button("Edit the request"));
    expect(screen.getByText("Message 2, User: image")).toBeInTheDocument();
    expect(screen.getByText("Message 3, User: audio")).toBeInTheDocument();
    expect(screen.queryByText(/Message 1, User:/), "text should only be in its field").toBeNull();
  });

  it("E27: the use of a tool is removed with its result, and restored with it", async () => {
    const { request } = samplingBodyWithModel() as Extract<
      ConsentRequestBody,
      { kind: "sampling" }
    >;
    const unknown = (json: JsonValue) => [{ type: "unknown", json } as const];
    const first: Message = { role: "user", content: [{ type: "text", text: "Wind?" }] };
    const messages: Message[] = [
      first,
      { role: "assistant", content: unknown({ type: "tool_use", id: "1", name: "wind" }) },
      { role: "user", content: unknown({ type: "tool_result", toolUseId: "1", content: [] }) },
    ];
    const body = samplingBodyWithModel({ request: { ...request, messages } });
    renderRequests(consentRequest(body));
    host.handlers.edit_consent_request = () => consentRequest(body, { hash: "edited" });
    await waitUntilArmed();
    await clickElement(button("Edit the request"));
    expect(screen.getByText("Message 2, Assistant: use of wind")).toBeInTheDocument();
    expect(screen.getByText("Message 3, User: a tool's result")).toBeInTheDocument();
    const [remove] = screen.getAllByRole("button", { name: "Remove messages 2 and 3" });
    await clickElement(remove as HTMLElement);
    const [restore] = screen.getAllByRole("button", { name: "Restore messages 2 and 3" });
    await clickElement(restore as HTMLElement);
    const [, again] = screen.getAllByRole("button", { name: "Remove messages 2 and 3" });
    await clickElement(again as HTMLElement);
    await clickElement(button("Use these changes"));
    const [, edit] = host.sent.find(([name]) => name === "edit_consent_request") ?? [];
    expect(edit, "both should be removed").toMatchObject({
      edit: { change: "request", request: { messages: [first] } },
    });
  });

  it.each(bodies)("%s: has no axe violations", async (_, body) => {
    renderRequests(consentRequest(body));
    await vi.advanceTimersByTimeAsync(ARMING_DELAY_MS);
    expect(await accessibilityProblems(), "axe should find no violations").toEqual([]);
  });

  it("shows the model and the reason for its choice, and lets the user choose another one", async () => {
    host.handlers.list_models = () => ({
      providers: [{ id: "local", name: "Ollama", models: [{ id: "qwen", name: "Qwen" }] }],
    });
    host.handlers.edit_consent_request = (request: { edit: unknown }) => ({
      ...consentRequest(samplingBodyWithModel()),
      hash: "h2",
      request,
    });
    renderRequests(consentRequest(samplingBodyWithModel()));
    await vi.advanceTimersByTimeAsync(0);
    expect(
      screen.getByText(/prefers “large”/),
      "[sampling-respect-hints]: the reason should be shown",
    ).toBeInTheDocument();
    expect(
      screen.getByText(/Maximum cost: \$0\.0125/),
      "the maximum cost should be shown",
    ).toBeInTheDocument();
    const list: HTMLSelectElement = screen.getByLabelText("Answered by");
    expect([...list.options].map((option) => option.text)).toEqual([
      "GPT-5.2 (openai)",
      "Qwen (Ollama)",
    ]);
    list.value = list.options[1]?.value ?? "";
    list.dispatchEvent(new Event("change", { bubbles: true }));
    await vi.advanceTimersByTimeAsync(0);
    const edits = host.sent
      .filter(([name]) => name === "edit_consent_request")
      .map(([, sent]) => sent);
    expect(edits, "the choice should be sent to the host").toEqual([
      { id: "q1", edit: { change: "model", model: { provider: "local", model: "qwen" } } },
    ]);
  });

  it("sends to the model only after a pause, and allows a manual answer at once", async () => {
    renderRequests(consentRequest(samplingBodyWithModel()));
    expect(
      isButtonBlocked(/Ask GPT-5.2/),
      "[sampling-human-in-loop]: the button should be disabled before the request could be read",
    ).toBe(true);
    await clickElement(button("Answer it yourself"));
    expect(sentDecisions(), "the manual answer should send nothing to the model").toEqual([
      { id: "q1", hash: "h1", answer: { action: "write_response" } },
    ]);
  });

  it("shows the streamed answer of the model, and stops it", async () => {
    const { set } = renderRequests(consentRequest(runningBody));
    expect(screen.getByRole("log").textContent, "the streamed text should be shown").toContain(
      "Pa",
    );
    expect(
      screen.queryByRole("button", { name: /^Ask/ }),
      "there should be no button to approve",
    ).toBeNull();
    set(
      consentRequest(
        samplingBodyWithModel({
          step: "running",
          run: { is: "running", text: "Paris\u202e.", thinking: false },
        }),
      ),
    );
    await tick();
    expect(
      screen.getByRole("log").textContent,
      "[X12]: hidden characters should be named",
    ).toContain("U+202E");
    await waitUntilArmed();
    await clickElement(button("Stop"));
    expect(sentDecisions()).toEqual([{ id: "q1", hash: "h1", answer: { action: "stop_model" } }]);
  });

  it("reviews the answer: it is sent, requested again, or the review is left", async () => {
    renderRequests(consentRequest(answeredBody));
    expect(
      screen.getByText(/1,200 input and 30 output tokens, which cost \$0\.0045/),
      "the tokens and cost should be shown",
    ).toBeInTheDocument();
    expect(
      screen.getByText("Paris."),
      "[sampling-review-result]: the whole answer should be shown",
    ).toBeInTheDocument();
    await clickElement(button("Back to the request"));
    expect(sentDecisions().at(-1)).toEqual({
      id: "q1",
      hash: "h1",
      answer: { action: "return_to_request" },
    });
  });

  it("shows that the cost and the number of tokens are unknown", async () => {
    const body = samplingBodyWithModel();
    if (body.kind !== "sampling" || !body.model) throw new Error("expected a model");
    const { set } = renderRequests(
      consentRequest({ ...body, model: { ...body.model, maxMicros: null } }),
    );
    expect(
      screen.getByText(/The cost is unknown\./),
      "the estimate should be unknown",
    ).toBeInTheDocument();
    if (answeredBody.kind !== "sampling" || answeredBody.run.is !== "done")
      throw new Error("no answer");
    set(consentRequest({ ...answeredBody, run: { ...answeredBody.run, micros: null } }));
    await tick();
    expect(
      screen.getByText(/and 30 output tokens\. The cost is unknown\./),
      "the cost should be unknown without a price",
    ).toBeInTheDocument();
    set(
      consentRequest({
        ...answeredBody,
        run: { ...answeredBody.run, inputTokens: null, micros: null },
      }),
    );
    await tick();
    expect(
      screen.getByText("The number of tokens used is unknown."),
      "the number of tokens should be unknown",
    ).toBeInTheDocument();
  });

  it("shows the tools of the server completely, and that Drawbridge does not run them", () => {
    const { request } = samplingRequestBody as Extract<ConsentRequestBody, { kind: "sampling" }>;
    const tools = [{ name: "pay", description: "Pays.", inputSchema: { type: "object" } }];
    renderRequests(
      consentRequest(
        samplingBodyWithModel({ request: { ...request, tools, toolChoice: "required" } }),
      ),
    );
    expect(
      screen.getByLabelText("Tools of the server").textContent,
      "X27: the name and schema should be shown",
    ).toContain('"type": "object"');
    expect(
      screen.getByText(/Drawbridge does not run them/),
      "X27: it should be stated who runs the tools",
    ).toBeInTheDocument();
    expect(
      screen.getByText("the model must use one"),
      "[sampling-tool-choice]: the tool choice should be shown",
    ).toBeInTheDocument();
    expect(
      screen.getByText(/All servers/i),
      "[sampling-include-context]: the requested context should be shown as omitted",
    ).toBeInTheDocument();
  });

  it("names the app that requests sampling, runs the tools and gets the answer", async () => {
    const app = { conversation: null, tool: "show_board", reachesOtherHosts: true };
    const origin = { by: "app", ...app } as const;
    const { request } = samplingRequestBody as Extract<ConsentRequestBody, { kind: "sampling" }>;
    const tools = [{ name: "pay", description: "Pays.", inputSchema: { type: "object" } }];
    const ofApp = consentRequest(samplingBodyWithModel({ request: { ...request, tools } }), {
      origin,
    });
    expect(titleLabel(ofApp), "the title should name the app and its server").toBe(
      "The app of “show_board” on “files” requests an answer from a model",
    );
    const { set } = renderRequests(ofApp);
    expect(screen.getByText("The app of “show_board” asked.")).toBeInTheDocument();
    expect(
      screen.getByText("Requested by an app that contacts other hosts."),
      "the hosts may have caused the request",
    ).toBeInTheDocument();
    expect(
      screen.getByText("The app can also send the model's answer to them."),
      "the hosts may get the answer",
    ).toBeInTheDocument();
    expect(screen.getByLabelText("Tools of the app")).toBeInTheDocument();
    set(consentRequest(runningBody, { origin }));
    await tick();
    expect(screen.getByText(/Nothing was sent to the app yet/)).toBeInTheDocument();
    set(consentRequest(answeredBody, { origin }));
    await tick();
    expect(
      screen.getByText("Sends to the app of “show_board” as the model's answer:"),
      "the app should be named as the receiver",
    ).toBeInTheDocument();
    expect(screen.queryByText(/Sends to files/), "the server gets no answer").toBeNull();
  });

  it("has a message for each reason", () => {
    const reasons: ModelChoiceReason[] = [
      { is: "user" },
      { is: "setting" },
      { is: "hint", hint: "x" },
      { is: "equivalent", hint: "x" },
      { is: "priorities", priorities: ["cost", "speed", "later"] },
      { is: "default" },
      { is: "first" },
    ];
    const words = reasons.map(modelChoiceReason);
    expect(new Set(words).size, "the messages should be distinct").toBe(reasons.length);
    expect(words[4], "an unknown reason should be shown unchanged").toContain("later");
  });
});
