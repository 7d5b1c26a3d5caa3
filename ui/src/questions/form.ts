// A form's values between what the fields hold and what is sent.

import type { FieldProblem, FormField, FormProblem, JsonValue } from "$lib/api/generated";

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
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) ? Number(text) : value;
}

/** The first problem of a field, to show beside it. */
export function problemOf(problems: FormProblem[], name: string): FormProblem | undefined {
  return problems.find((p) => p.field === name);
}

/** Problems that have no field to stand beside. */
export function strayProblems(problems: FormProblem[], fields: FormField[]): FormProblem[] {
  const names = new Set(fields.map((f) => f.name));
  return problems.filter((p) => !names.has(p.field));
}

/** A missing value is pointed out only after the user has been there or wanted to send. */
export function isShown(problem: FieldProblem, touched: boolean, tried: boolean): boolean {
  return tried || touched || problem === "unknown_field";
}
