// Sampling requests: the chosen model, its streamed response, and the actions on the response.
import { screen } from "@testing-library/svelte";
import { tick } from "svelte";
import { describe, expect, it, vi } from "vitest";

import type { JsonValue, Message, ModelChosenBy, ConsentRequestBody } from "$lib/api/generated";

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
import { modelChoiceReason } from "./sampling-labels";

installFakeHostForEachTest();

const answered = samplingBodyWithModel({
  step: "response",
  response: {
    content: [{ type: "text", text: "Paris." }],
    model: "gpt-5.2",
    stopReason: "endTurn",
  },
  run: { is: "done", inputTokens: 1_200, outputTokens: 30, micros: 4_500, noToolUsed: false },
});
const running = samplingBodyWithModel({
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
        wantedTokens: 1_000_000_000,
        losses: [{ what: "audio", then: "leaveOut" }],
      }),
    ],
    ["running", running],
    ["answer", answered],
    ["stopped", { ...answered, run: { is: "stopped" } } as ConsentRequestBody],
  ];

  it("E27: a message can be taken out, but not the last one", async () => {
    const body = samplingBodyWithModel();
    renderRequests(consentRequest(body));
    host.handlers.edit_question = () => consentRequest(body, { hash: "edited" });
    await waitUntilArmed();
    await clickElement(button("Edit the request"));
    await clickElement(button("Remove message 2"));
    await clickElement(button("Remove message 3"));
    expect(screen.queryByRole("button", { name: "Remove message 1" }), "one stays").toBeNull();
    await clickElement(button("Restore message 3"));
    await clickElement(button("Use these changes"));
    const [, request] = host.sent.find(([name]) => name === "edit_question") ?? [];
    const messages = body.kind === "sampling" ? body.request.messages : [];
    expect(request, "what is left").toMatchObject({
      edit: { change: "request", request: { messages: [messages[0], messages[2]] } },
    });
  });

  it("E27: names what a message without text holds", async () => {
    renderRequests(consentRequest(samplingBodyWithModel()));
    await waitUntilArmed();
    await clickElement(button("Edit the request"));
    expect(screen.getByText("Message 2, User: image")).toBeInTheDocument();
    expect(screen.getByText("Message 3, User: audio")).toBeInTheDocument();
    expect(screen.queryByText(/Message 1, User:/), "its text is in its field").toBeNull();
  });

  it("E27: the use of a tool is removed with its result, and restored with it", async () => {
    const { request } = samplingBodyWithModel() as Extract<
      ConsentRequestBody,
      { kind: "sampling" }
    >;
    const unknown = (json: JsonValue) => [{ type: "unknown", json } as const];
    const asked: Message = { role: "user", content: [{ type: "text", text: "Wind?" }] };
    const messages: Message[] = [
      asked,
      { role: "assistant", content: unknown({ type: "tool_use", id: "1", name: "wind" }) },
      { role: "user", content: unknown({ type: "tool_result", toolUseId: "1", content: [] }) },
    ];
    const body = samplingBodyWithModel({ request: { ...request, messages } });
    renderRequests(consentRequest(body));
    host.handlers.edit_question = () => consentRequest(body, { hash: "edited" });
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
    const [, edit] = host.sent.find(([name]) => name === "edit_question") ?? [];
    expect(edit, "neither is left alone").toMatchObject({
      edit: { change: "request", request: { messages: [asked] } },
    });
  });

  it.each(bodies)("%s: axe finds nothing", async (_, body) => {
    renderRequests(consentRequest(body));
    await vi.advanceTimersByTimeAsync(ARMING_DELAY_MS);
    expect(await accessibilityProblems(), "no violations").toEqual([]);
  });

  it("says which model answers and why, and lets another one be chosen", async () => {
    host.handlers.models = () => ({
      providers: [{ id: "local", name: "Ollama", models: [{ id: "qwen", name: "Qwen" }] }],
    });
    host.handlers.edit_question = (request: { edit: unknown }) => ({
      ...consentRequest(samplingBodyWithModel()),
      hash: "h2",
      request,
    });
    renderRequests(consentRequest(samplingBodyWithModel()));
    await vi.advanceTimersByTimeAsync(0);
    expect(
      screen.getByText(/prefers “large”/),
      "[sampling-respect-hints]: why",
    ).toBeInTheDocument();
    expect(
      screen.getByText(/Maximum cost: \$0\.0125/),
      "what it costs at the most",
    ).toBeInTheDocument();
    const list: HTMLSelectElement = screen.getByLabelText("Answered by");
    expect([...list.options].map((option) => option.text)).toEqual([
      "GPT-5.2 (openai)",
      "Qwen (Ollama)",
    ]);
    list.value = list.options[1]?.value ?? "";
    list.dispatchEvent(new Event("change", { bubbles: true }));
    await vi.advanceTimersByTimeAsync(0);
    const edits = host.sent.filter(([name]) => name === "edit_question").map(([, sent]) => sent);
    expect(edits, "the choice goes to the host").toEqual([
      { id: "q1", edit: { change: "model", model: { provider: "local", model: "qwen" } } },
    ]);
  });

  it("asks the model only after a pause, and can be answered by hand at once", async () => {
    renderRequests(consentRequest(samplingBodyWithModel()));
    expect(
      isButtonBlocked(/Ask GPT-5.2/),
      "[sampling-human-in-loop]: not before it could be read",
    ).toBe(true);
    await clickElement(button("Answer it yourself"));
    expect(sentDecisions(), "nothing is sent by it").toEqual([
      { id: "q1", hash: "h1", answer: { action: "by_hand" } },
    ]);
  });

  it("shows what the model says as it comes, and stops it", async () => {
    const { set } = renderRequests(consentRequest(running));
    expect(screen.getByRole("log").textContent, "what came").toContain("Pa");
    expect(screen.queryByRole("button", { name: /^Ask/ }), "nothing to allow").toBeNull();
    set(
      consentRequest(
        samplingBodyWithModel({
          step: "running",
          run: { is: "running", text: "Paris\u202e.", thinking: false },
        }),
      ),
    );
    await tick();
    expect(screen.getByRole("log").textContent, "[X12]: hidden characters are named").toContain(
      "U+202E",
    );
    await waitUntilArmed();
    await clickElement(button("Stop"));
    expect(sentDecisions()).toEqual([{ id: "q1", hash: "h1", answer: { action: "stop" } }]);
  });

  it("reviews the answer: sent, asked again, gone back from", async () => {
    renderRequests(consentRequest(answered));
    expect(
      screen.getByText(/1,200 input and 30 output tokens, which cost \$0\.0045/),
      "what it took",
    ).toBeInTheDocument();
    expect(
      screen.getByText("Paris."),
      "[sampling-review-result]: the answer whole",
    ).toBeInTheDocument();
    await clickElement(button("Back to the request"));
    expect(sentDecisions().at(-1)).toEqual({ id: "q1", hash: "h1", answer: { action: "back" } });
  });

  it("says what is not known of the price and of what the model took", async () => {
    const asked = samplingBodyWithModel();
    if (asked.kind !== "sampling" || !asked.model) throw new Error("a request with a model");
    const { set } = renderRequests(
      consentRequest({ ...asked, model: { ...asked.model, mostMicros: null } }),
    );
    expect(screen.getByText(/The cost is unknown\./), "before").toBeInTheDocument();
    if (answered.kind !== "sampling" || answered.run.is !== "done") throw new Error("an answer");
    set(consentRequest({ ...answered, run: { ...answered.run, micros: null } }));
    await tick();
    expect(
      screen.getByText(/and 30 output tokens\. The cost is unknown\./),
      "after, without a price",
    ).toBeInTheDocument();
    set(consentRequest({ ...answered, run: { ...answered.run, inputTokens: null, micros: null } }));
    await tick();
    expect(
      screen.getByText("The number of tokens used is unknown."),
      "without a number of tokens",
    ).toBeInTheDocument();
  });

  it("shows the server's own tools whole, and that nobody runs them here", () => {
    const { request } = samplingRequestBody as Extract<ConsentRequestBody, { kind: "sampling" }>;
    const tools = [{ name: "pay", description: "Pays.", inputSchema: { type: "object" } }];
    renderRequests(
      consentRequest(
        samplingBodyWithModel({ request: { ...request, tools, toolChoice: "required" } }),
      ),
    );
    expect(
      screen.getByLabelText("Tools of the server").textContent,
      "X27: by name and schema",
    ).toContain('"type": "object"');
    expect(
      screen.getByText(/Drawbridge does not run them/),
      "X27: who runs them",
    ).toBeInTheDocument();
    expect(
      screen.getByText("the model must use one"),
      "[sampling-tool-choice]",
    ).toBeInTheDocument();
    expect(
      screen.getByText(/All servers/i),
      "[sampling-include-context]: said, and that none is put in",
    ).toBeInTheDocument();
  });

  it("has a sentence for each reason", () => {
    const reasons: ModelChosenBy[] = [
      { is: "user" },
      { is: "setting" },
      { is: "hint", hint: "x" },
      { is: "equivalent", hint: "x" },
      { is: "priorities", priorities: ["cost", "speed", "later"] },
      { is: "default" },
      { is: "first" },
    ];
    const words = reasons.map(modelChoiceReason);
    expect(new Set(words).size, "each its own").toBe(reasons.length);
    expect(words[4], "one of a later version as it is").toContain("later");
  });
});
