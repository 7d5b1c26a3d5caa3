import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { ApiError } from "$lib/api/client";
import type { Completion } from "$lib/api/generated";

import { Completions, COMPLETION_DELAY_MS, type CompletionRequest } from "./completion.svelte";

const requestFor = (value: string, argument = "city"): CompletionRequest => ({
  argument,
  value,
  context: { country: "fr" },
});
const values = (...list: string[]): Completion => ({ values: list, total: null, hasMore: false });

describe("completion", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  // [completion-debounce] [completion-rate-limit]
  it("sends one request after typing pauses, with the previous arguments", async () => {
    const complete = vi.fn(() => Promise.resolve(values("Paris")));
    const completions = new Completions(complete);
    completions.request(requestFor("P"));
    await vi.advanceTimersByTimeAsync(COMPLETION_DELAY_MS - 1);
    completions.request(requestFor("Pa"));
    await vi.advanceTimersByTimeAsync(COMPLETION_DELAY_MS);
    expect(complete.mock.calls, "one request should be sent with the context").toEqual([
      [requestFor("Pa")],
    ]);
    expect(completions.values, "the values should be shown").toEqual(["Paris"]);
    expect(completions.open, "the list should be open").toBe(true);
  });

  it("drops responses that arrive out of order", async () => {
    const answers: ((completion: Completion) => void)[] = [];
    const completions = new Completions(() => new Promise((resolve) => answers.push(resolve)));
    completions.request(requestFor("P"));
    await vi.advanceTimersByTimeAsync(COMPLETION_DELAY_MS);
    completions.request(requestFor("Pa"));
    await vi.advanceTimersByTimeAsync(COMPLETION_DELAY_MS);
    answers[1]?.(values("Paris"));
    await vi.advanceTimersByTimeAsync(0);
    answers[0]?.(values("Porto", "Paris"));
    await vi.advanceTimersByTimeAsync(0);
    expect(completions.values, "the response to the latest request should be kept").toEqual([
      "Paris",
    ]);
    expect(completions.busy, "no request should be pending").toBe(false);
  });

  it("filters the old values by the text during a request", async () => {
    const complete = vi.fn((requestFor: CompletionRequest) =>
      requestFor.value === ""
        ? Promise.resolve(values("Amsterdam", "Bergen"))
        : new Promise<never>(() => undefined),
    );
    const completions = new Completions(complete);
    completions.request(requestFor(""));
    await vi.advanceTimersByTimeAsync(COMPLETION_DELAY_MS);
    completions.move(1);
    completions.request(requestFor("ber"));
    expect(completions.values, "the values should be filtered before the response").toEqual([
      "Bergen",
    ]);
    expect(completions.chosen, "the previous selection should be cleared").toBe(null);
    completions.move(1);
    expect(completions.chosen, "the arrow key should select the value").toBe("Bergen");
  });

  it("keeps the selection if the response contains it", async () => {
    const answers: ((completion: Completion) => void)[] = [];
    const completions = new Completions(() => new Promise((resolve) => answers.push(resolve)));
    completions.request(requestFor(""));
    await vi.advanceTimersByTimeAsync(COMPLETION_DELAY_MS);
    answers[0]?.(values("Amsterdam", "Bergen"));
    await vi.advanceTimersByTimeAsync(0);
    completions.request(requestFor("ber"));
    completions.move(1);
    await vi.advanceTimersByTimeAsync(COMPLETION_DELAY_MS);
    answers[1]?.(values("Aberdeen", "Bergen"));
    await vi.advanceTimersByTimeAsync(0);
    expect(completions.chosen, "the selection should be kept").toBe("Bergen");
  });

  it("shows nothing that arrives after closing", async () => {
    let answer: (completion: Completion) => void = () => undefined;
    const completions = new Completions(() => new Promise((resolve) => (answer = resolve)));
    completions.request(requestFor("P"));
    await vi.advanceTimersByTimeAsync(COMPLETION_DELAY_MS);
    completions.close();
    answer(values("Paris"));
    await vi.advanceTimersByTimeAsync(0);
    expect(completions.open, "the list should stay closed").toBe(false);
  });

  it("does not show the values of another argument", async () => {
    const completions = new Completions(() => Promise.resolve(values("Paris")));
    completions.request(requestFor("P"));
    await vi.advanceTimersByTimeAsync(COMPLETION_DELAY_MS);
    completions.request(requestFor("2", "year"));
    expect(completions.open, "the list should close at once").toBe(false);
  });

  // [completion-max-100]
  it("counts hidden values", async () => {
    const answers: Completion[] = [
      { values: ["a"], total: 41, hasMore: true },
      { values: ["a"], total: null, hasMore: true },
      { values: ["a"], total: null, hasMore: false },
    ];
    const completions = new Completions(() => Promise.resolve(answers.shift() as Completion));
    const values: (number | null)[] = [];
    for (const value of ["1", "2", "3"]) {
      completions.request(requestFor(value));
      await vi.advanceTimersByTimeAsync(COMPLETION_DELAY_MS);
      values.push(completions.more);
    }
    expect(values, "the number of hidden values should be 40, unknown, and 0").toEqual([
      40,
      null,
      0,
    ]);
  });

  it("moves through the values and back to the typed text", async () => {
    const completions = new Completions(() => Promise.resolve(values("a", "b")));
    completions.request(requestFor(""));
    await vi.advanceTimersByTimeAsync(COMPLETION_DELAY_MS);
    const chosen: (string | null)[] = [];
    for (let i = 0; i < 3; i++) {
      completions.move(1);
      chosen.push(completions.chosen);
    }
    expect(chosen, "the first value, the second value and none should be selected").toEqual([
      "a",
      "b",
      null,
    ]);
    completions.move(-1);
    expect(completions.chosen, "the last value should precede none").toBe("b");
  });

  // [completion-partial]
  it("explains failures, except for servers without completion", async () => {
    const errors = [
      new ApiError({ code: "server", message: "broken" }),
      new ApiError({ code: "unsupported", message: "no completion" }),
    ];
    const complete = vi.fn(() => Promise.reject(errors.shift() as ApiError));
    const completions = new Completions(complete);
    completions.request(requestFor("a"));
    await vi.advanceTimersByTimeAsync(COMPLETION_DELAY_MS);
    expect(completions.problem, "the cause should be reported").toBe("broken");
    completions.close();
    completions.request(requestFor("b"));
    await vi.advanceTimersByTimeAsync(COMPLETION_DELAY_MS);
    expect(completions.problem, "a missing capability should not be reported").toBeNull();
    completions.request(requestFor("c"));
    await vi.advanceTimersByTimeAsync(COMPLETION_DELAY_MS);
    expect(complete.mock.calls.length, "the server should not be called again").toBe(2);
  });
});
