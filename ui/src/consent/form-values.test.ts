import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { FormField, FormProblem, ConsentRequestBody } from "$lib/api/generated";

import { formBody } from "./fixtures";
import { FormCheck, CHECK_DEBOUNCE_MS } from "./form-check.svelte";
import {
  formContentOf,
  initialValues,
  displayedProblem,
  problemsWithoutField,
  type FieldValue,
} from "./form-values";

const fields = (formBody as Extract<ConsentRequestBody, { kind: "form" }>).fields;

function content(changes: Record<string, FieldValue> = {}): Record<string, unknown> {
  return formContentOf(fields, new Map([...initialValues(fields), ...Object.entries(changes)]));
}

describe("form content", () => {
  it("contains the defaults, and omits empty fields", () => {
    expect(content(), "the content should contain defaults and required choices").toEqual({
      age: 30,
      news: true,
      size: "m",
      colours: [],
    });
  });

  it("converts numbers, and leaves invalid ones to the check", () => {
    expect(content({ age: " 12.5 " }).age, "a number should be converted").toBe(12.5);
    expect(content({ age: "1e3" }).age, "an exponent should be converted").toBe(1000);
    expect(content({ age: "twelve" }).age, "an invalid number should be sent as text").toBe(
      "twelve",
    );
    expect(content({ age: "0x10" }).age, "other notations should not be converted").toBe("0x10");
    expect("age" in content({ age: "" }), "an empty field should not be 0").toBe(false);
  });

  it("sends no number that differs from the entered one", () => {
    const sent = (age: string) => content({ age }).age;
    expect(sent("9007199254740991"), "the largest exact integer should be sent").toBe(
      9007199254740991,
    );
    expect(sent("9007199254740993"), "an inexact integer should not be converted").toBe(
      "9007199254740993",
    );
    expect(sent("1e999"), "an infinite number should not be converted").toBe("1e999");
    expect(sent("1e300"), "a large number with an exponent should be converted").toBe(1e300);
    const wrong: FormProblem = { field: "age", problem: "wrong_type", limit: null };
    expect(
      displayedProblem(wrong, "9007199254740993"),
      "the reason should be displayed",
    ).toMatchObject({
      problem: "too_large",
      limit: Number.MAX_SAFE_INTEGER,
    });
    expect(
      displayedProblem(wrong, "-9007199254740993").problem,
      "the negative bound should be displayed",
    ).toBe("too_small");
    expect(displayedProblem(wrong, "twelve"), "other problems should be unchanged").toEqual(wrong);
  });

  it("accepts a default only if it matches the type of the field", () => {
    const wrong: FormField[] = fields.map((f) => ({ ...f, default: { a: 1 } }));
    expect(
      formContentOf(wrong, new Map(initialValues(wrong))),
      "an object should not be a default",
    ).toEqual({
      colours: [],
    });
  });

  it("supports a field named __proto__", () => {
    const odd: FormField[] = [{ ...(fields[0] as FormField), name: "__proto__", default: "x" }];
    expect(
      JSON.stringify(formContentOf(odd, new Map(initialValues(odd)))),
      "the value should be sent under the name",
    ).toBe('{"__proto__":"x"}');
  });

  it("finds problems without a field", () => {
    const problems: FormProblem[] = [
      { field: "name", problem: "required", limit: null },
      { field: "ghost", problem: "unknown_field", limit: null },
    ];
    expect(
      problemsWithoutField(problems, fields).map((p) => p.field),
      "the problem should be separate",
    ).toEqual(["ghost"]);
  });
});

describe("form check", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const problem = (field: string): FormProblem => ({ field, problem: "required", limit: null });

  it("waits until the typing pauses", async () => {
    const check = vi.fn(() => Promise.resolve([problem("name")]));
    const form = new FormCheck(check);
    form.schedule({ name: "a" });
    await vi.advanceTimersByTimeAsync(CHECK_DEBOUNCE_MS - 1);
    form.schedule({ name: "ab" });
    await vi.advanceTimersByTimeAsync(CHECK_DEBOUNCE_MS);
    expect(check.mock.calls, "the latest content should be checked once").toEqual([
      [{ name: "ab" }],
    ]);
    expect(form.problems, "the response should be shown").toEqual([problem("name")]);
    expect(form.upToDate, "the response should be for the current content").toBe(true);
  });

  it("drops an outdated response", async () => {
    const answers: ((problems: FormProblem[]) => void)[] = [];
    const form = new FormCheck(() => new Promise((resolve) => answers.push(resolve)));
    form.schedule({ name: "" });
    await vi.advanceTimersByTimeAsync(CHECK_DEBOUNCE_MS);
    form.schedule({ name: "Ann" });
    await vi.advanceTimersByTimeAsync(CHECK_DEBOUNCE_MS);
    answers[1]?.([]);
    answers[0]?.([problem("name")]);
    await vi.advanceTimersByTimeAsync(0);
    expect(form.problems, "the response for the latest content should be shown").toEqual([]);
  });
});
