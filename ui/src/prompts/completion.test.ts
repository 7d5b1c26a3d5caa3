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
  it("sends one request after typing stops, with the arguments in front", async () => {
    const complete = vi.fn(() => Promise.resolve(values("Paris")));
    const completions = new Completions(complete);
    completions.request(requestFor("P"));
    await vi.advanceTimersByTimeAsync(COMPLETION_DELAY_MS - 1);
    completions.request(requestFor("Pa"));
    await vi.advanceTimersByTimeAsync(COMPLETION_DELAY_MS);
    expect(complete.mock.calls, "one request, with the context").toEqual([[requestFor("Pa")]]);
    expect(completions.values, "its values are shown").toEqual(["Paris"]);
    expect(completions.open, "in an open list").toBe(true);
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
    expect(completions.values, "the response to the latest request stays").toEqual(["Paris"]);
    expect(completions.busy, "nothing is waited for").toBe(false);
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
    expect(completions.values, "at once, before the answer").toEqual(["Bergen"]);
    expect(completions.chosen, "the choice was made for another text").toBe(null);
    completions.move(1);
    expect(completions.chosen, "what the arrow key reaches").toBe("Bergen");
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
    expect(completions.chosen, "the next key takes what was seen").toBe("Bergen");
  });

  it("shows nothing that arrives after closing", async () => {
    let answer: (completion: Completion) => void = () => undefined;
    const completions = new Completions(() => new Promise((resolve) => (answer = resolve)));
    completions.request(requestFor("P"));
    await vi.advanceTimersByTimeAsync(COMPLETION_DELAY_MS);
    completions.close();
    answer(values("Paris"));
    await vi.advanceTimersByTimeAsync(0);
    expect(completions.open, "closed stays closed").toBe(false);
  });

  it("does not show the values of another argument", async () => {
    const completions = new Completions(() => Promise.resolve(values("Paris")));
    completions.request(requestFor("P"));
    await vi.advanceTimersByTimeAsync(COMPLETION_DELAY_MS);
    completions.request(requestFor("2", "year"));
    expect(completions.open, "the list closes at once").toBe(false);
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
    expect(values, "40 more; more of unknown number; no more").toEqual([40, null, 0]);
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
    expect(chosen, "first, second, none").toEqual(["a", "b", null]);
    completions.move(-1);
    expect(completions.chosen, "back from none is the last").toBe("b");
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
    expect(completions.problem, "the cause").toBe("broken");
    completions.close();
    completions.request(requestFor("b"));
    await vi.advanceTimersByTimeAsync(COMPLETION_DELAY_MS);
    expect(completions.problem, "nothing to say").toBeNull();
    completions.request(requestFor("c"));
    await vi.advanceTimersByTimeAsync(COMPLETION_DELAY_MS);
    expect(complete.mock.calls.length, "it is not asked again").toBe(2);
  });
});
