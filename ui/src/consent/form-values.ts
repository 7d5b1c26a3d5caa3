// Converts between the values of form fields and the submitted content.

import type { FieldProblem, FormField, FormProblem, JsonValue } from "$lib/api/generated";
import { visibleParts } from "$lib/format/text-safety";

import type { PayloadPart } from "./read-progress.svelte";

/** Value of a field during editing. `undefined` if there is neither input nor a default. */
export type FieldValue = string | boolean | string[] | undefined;
/** Field values by field name. The server defines the names. */
export type FieldValues = ReadonlyMap<string, FieldValue>;

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

/** Returns the JSON object to submit. Empty fields are omitted. */
export function formContentOf(fields: FormField[], values: FieldValues): Record<string, JsonValue> {
  const content: [string, JsonValue][] = [];
  for (const field of fields) {
    const value = values.get(field.name);
    const { type } = field.kind;
    if (value === undefined || (value === "" && (type === "text" || type === "number"))) continue;
    content.push([field.name, type === "number" ? numberOrText(value) : value]);
  }
  return Object.fromEntries(content);
}

/** Parses a number. Returns any other text unchanged, so that the host's check reports the problem. */
function numberOrText(value: FieldValue): JsonValue {
  if (typeof value !== "string") return value ?? null;
  const text = value.trim();
  if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) || isInexact(text)) return value;
  return Number(text);
}

/** Returns `true` for a number that a double can't represent: an integer beyond 2^53, or a number that overflows. */
function isInexact(text: string): boolean {
  const number = Number(text);
  return /^[-+]?\d+$/.test(text) ? !Number.isSafeInteger(number) : Math.abs(number) === Infinity;
}

/**
 * Returns the problem to display. For a number that a double can't represent, the problem is that it is too small or
 * too large, not that its type is wrong.
 */
export function displayedProblem(problem: FormProblem, value: FieldValue): FormProblem {
  const text = typeof value === "string" ? value.trim() : "";
  if (problem.problem !== "wrong_type" || !isInexact(text)) return problem;
  return text.startsWith("-")
    ? { ...problem, problem: "too_small", limit: Number.MIN_SAFE_INTEGER }
    : { ...problem, problem: "too_large", limit: Number.MAX_SAFE_INTEGER };
}

/** Number of characters that fit into every text field without scrolling. */
const VISIBLE_FIELD_CHARACTERS = 60;

/**
 * Returns the text of a field that does not display it completely: because of hidden characters, or because it is a
 * long default of the server. Otherwise returns `null`.
 */
export function obscuredPart(field: FormField, value: FieldValue): PayloadPart | null {
  if (typeof value !== "string" || field.kind.type !== "text") return null;
  const long = value === field.default && value.length > VISIBLE_FIELD_CHARACTERS;
  const unseen = visibleParts(value).some((part) => part.is !== "plain");
  return long || unseen ? { key: `field ${field.name}`, text: value } : null;
}

/** Returns the first problem of a field. */
export function fieldProblemOf(problems: FormProblem[], name: string): FormProblem | undefined {
  return problems.find((p) => p.field === name);
}

/** Returns the problems that are not about any field of the form. */
export function problemsWithoutField(problems: FormProblem[], fields: FormField[]): FormProblem[] {
  const names = new Set(fields.map((f) => f.name));
  return problems.filter((p) => !names.has(p.field));
}

/**
 * Returns `true` if a problem is displayed. A missing value is displayed only after the field has lost focus or the
 * user has tried to submit.
 */
export function isProblemShown(problem: FieldProblem, touched: boolean, tried: boolean): boolean {
  return tried || touched || problem === "unknown_field";
}
