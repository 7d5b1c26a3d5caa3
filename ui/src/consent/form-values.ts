// A form's values between what the fields hold and what is sent.

import type { FieldProblem, FormField, FormProblem, JsonValue } from "$lib/api/generated";
import { visibleParts } from "$lib/format/text-safety";

import type { PayloadPart } from "./read-progress.svelte";

/** What a field holds while it is edited. Absent: not touched and no default. */
export type FieldValue = string | boolean | string[] | undefined;
/** By field name, which the server chooses. */
export type Values = ReadonlyMap<string, FieldValue>;

export function initialValues(fields: FormField[]): [string, FieldValue][] {
  return fields.map((field) => [field.name, initialValue(field)]);
}

function initialValue(field: FormField): FieldValue {
  const given = field.default;
  switch (field.kind.type) {
    case "boolean":
      if (typeof given === "boolean") return given;
      return field.required ? false : undefined;
    case "choices":
      if (Array.isArray(given)) return given.filter((v): v is string => typeof v === "string");
      return field.required ? [] : undefined;
    case "number":
      return typeof given === "number" ? String(given) : undefined;
    default:
      return typeof given === "string" ? given : undefined;
  }
}

/** The JSON object to send: fields that hold nothing are left out. */
export function contentOf(fields: FormField[], values: Values): Record<string, JsonValue> {
  const content: [string, JsonValue][] = [];
  for (const field of fields) {
    const value = values.get(field.name);
    const { type } = field.kind;
    if (value === undefined || (value === "" && (type === "text" || type === "number"))) continue;
    content.push([field.name, type === "number" ? numberOrText(value) : value]);
  }
  return Object.fromEntries(content);
}

/** A number as JSON writes it; anything else stays text, so that the check says what is wrong with it. */
function numberOrText(value: FieldValue): JsonValue {
  if (typeof value !== "string") return value ?? null;
  const text = value.trim();
  if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) || isInexact(text)) return value;
  return Number(text);
}

/** Whether it is a number that can't be sent as it is written: a whole one beyond 2^53, or one beyond all. */
function isInexact(text: string): boolean {
  const number = Number(text);
  return /^[-+]?\d+$/.test(text) ? !Number.isSafeInteger(number) : Math.abs(number) === Infinity;
}

/** What a form's problem is, seen from the page: a number may be too large for it. */
export function displayedProblem(problem: FormProblem, value: FieldValue): FormProblem {
  const text = typeof value === "string" ? value.trim() : "";
  if (problem.problem !== "wrong_type" || !isInexact(text)) return problem;
  return text.startsWith("-")
    ? { ...problem, problem: "too_small", limit: Number.MIN_SAFE_INTEGER }
    : { ...problem, problem: "too_large", limit: Number.MAX_SAFE_INTEGER };
}

/** So much of a text its field shows for certain. */
const VISIBLE_CHARACTERS = 60;

/** A text that its field does not show whole: with characters that can't be seen, or filled in by the server and long. */
export function obscuredPart(field: FormField, value: FieldValue): PayloadPart | null {
  if (typeof value !== "string" || field.kind.type !== "text") return null;
  const long = value === field.default && value.length > VISIBLE_CHARACTERS;
  const unseen = visibleParts(value).some((part) => part.is !== "plain");
  return long || unseen ? { key: `field ${field.name}`, text: value } : null;
}

/** The first problem of a field, to show beside it. */
export function problemOf(problems: FormProblem[], name: string): FormProblem | undefined {
  return problems.find((p) => p.field === name);
}

/** Problems that have no field to stand beside. */
export function problemsWithoutField(problems: FormProblem[], fields: FormField[]): FormProblem[] {
  const names = new Set(fields.map((f) => f.name));
  return problems.filter((p) => !names.has(p.field));
}

/** A missing value is pointed out only after the user has been there or wanted to send. */
export function isShown(problem: FieldProblem, touched: boolean, tried: boolean): boolean {
  return tried || touched || problem === "unknown_field";
}
