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
  it("holds the defaults, and leaves out what is not filled in", () => {
    expect(content(), "defaults and required choices").toEqual({
      age: 30,
      news: true,
      size: "m",
      colours: [],
    });
  });

  it("makes numbers of numbers and leaves the rest to the check", () => {
    expect(content({ age: " 12.5 " }).age, "a number").toBe(12.5);
    expect(content({ age: "1e3" }).age, "as JSON writes it").toBe(1000);
    expect(content({ age: "twelve" }).age, "no number is sent as it is, to be named as wrong").toBe(
      "twelve",
    );
    expect(content({ age: "0x10" }).age, "no other notation").toBe("0x10");
    expect("age" in content({ age: "" }), "nothing is not zero").toBe(false);
  });

  it("sends no number that is not the one that was entered", () => {
    const sent = (age: string) => content({ age }).age;
    expect(sent("9007199254740991"), "the largest that is exact").toBe(9007199254740991);
    expect(sent("9007199254740993"), "not one beside it").toBe("9007199254740993");
    expect(sent("1e999"), "nor none at all").toBe("1e999");
    expect(sent("1e300"), "in this notation nobody counts the digits").toBe(1e300);
    const wrong: FormProblem = { field: "age", problem: "wrong_type", limit: null };
    expect(displayedProblem(wrong, "9007199254740993"), "and it is said why").toMatchObject({
      problem: "too_large",
      limit: Number.MAX_SAFE_INTEGER,
    });
    expect(displayedProblem(wrong, "-9007199254740993").problem, "on both sides").toBe("too_small");
    expect(displayedProblem(wrong, "twelve"), "and of nothing else").toEqual(wrong);
  });

  it("takes a default only if it is of the field's kind", () => {
    const wrong: FormField[] = fields.map((f) => ({ ...f, default: { a: 1 } }));
    expect(formContentOf(wrong, new Map(initialValues(wrong))), "an object is no default").toEqual({
      colours: [],
    });
  });

  it("keeps a field named __proto__ a field", () => {
    const odd: FormField[] = [{ ...(fields[0] as FormField), name: "__proto__", default: "x" }];
    expect(
      JSON.stringify(formContentOf(odd, new Map(initialValues(odd)))),
      "sent under its name",
    ).toBe('{"__proto__":"x"}');
  });

  it("finds problems that have no field", () => {
    const problems: FormProblem[] = [
      { field: "name", problem: "required", limit: null },
      { field: "ghost", problem: "unknown_field", limit: null },
    ];
    expect(
      problemsWithoutField(problems, fields).map((p) => p.field),
      "shown apart",
    ).toEqual(["ghost"]);
  });
});

describe("form check", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const problem = (field: string): FormProblem => ({ field, problem: "required", limit: null });

  it("waits until the typing stops", async () => {
    const check = vi.fn(() => Promise.resolve([problem("name")]));
    const form = new FormCheck(check);
    form.schedule({ name: "a" });
    await vi.advanceTimersByTimeAsync(CHECK_DEBOUNCE_MS - 1);
    form.schedule({ name: "ab" });
    await vi.advanceTimersByTimeAsync(CHECK_DEBOUNCE_MS);
    expect(check.mock.calls, "asked once, for the latest content").toEqual([[{ name: "ab" }]]);
    expect(form.problems, "the answer is shown").toEqual([problem("name")]);
    expect(form.upToDate, "and belongs to what is in the form").toBe(true);
  });

  it("drops an answer that was overtaken", async () => {
    const answers: ((problems: FormProblem[]) => void)[] = [];
    const form = new FormCheck(() => new Promise((resolve) => answers.push(resolve)));
    form.schedule({ name: "" });
    await vi.advanceTimersByTimeAsync(CHECK_DEBOUNCE_MS);
    form.schedule({ name: "Ann" });
    await vi.advanceTimersByTimeAsync(CHECK_DEBOUNCE_MS);
    answers[1]?.([]);
    answers[0]?.([problem("name")]);
    await vi.advanceTimersByTimeAsync(0);
    expect(form.problems, "the answer for the latest content counts").toEqual([]);
  });
});
