// Converts a draft to a value and validates each part. The checks are for convenience, and the server validates as
// well.

import type { FieldProblem, JsonValue } from "$lib/api/generated";
import { parseJson } from "$lib/format/json";

import type { PartDraft } from "./draft";
import type { ArrayShape, NumberShape, ObjectShape, Shape, TextFormat, TextShape } from "./shape";

/** Code of a validation problem. */
export type ProblemCode =
  | Exclude<FieldProblem, "wrong_type" | "not_an_option" | "unknown_field">
  | "not_a_number"
  | "not_whole"
  | "not_exact"
  | "not_json"
  | "no_name"
  | "name_taken";

/** Validation problem of one part of a form. */
export interface PartProblem {
  /** Path of the part, in the format of `pathOf`. */
  path: string;
  code: ProblemCode;
  /** The violated bound, or the line number of a JSON error. */
  bound: number | null;
}

/** Value of a draft and its validation problems. */
export interface FormResult {
  /** The converted value. `undefined` if it is omitted or invalid. */
  value: JsonValue | undefined;
  problems: PartProblem[];
}

/** Returns the path of a part as a JSON Pointer (RFC 6901). The path of the root is empty. */
export function pathOf(parent: string, key: string | number): string {
  return `${parent}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Returns the path of the name field of a map row. */
export function namePathOf(parent: string, rowId: number): string {
  return `${parent}#${rowId}`;
}

/** Converts the draft of a complete form to a value. */
export function convertDraft(shape: Shape, draft: PartDraft): FormResult {
  const problems: PartProblem[] = [];
  const value = readPart(shape, draft, true, "", problems);
  return { value, problems };
}

function readPart(
  shape: Shape,
  draft: PartDraft,
  required: boolean,
  path: string,
  problems: PartProblem[],
): JsonValue | undefined {
  const report = (code: ProblemCode, bound: number | null = null) => {
    problems.push({ path, code, bound });
  };
  if (draft.presence === "null") return null;
  if (draft.presence === "absent") {
    if (required) report("required");
    return undefined;
  }
  switch (draft.kind) {
    case "object":
      return shape.kind === "object" ? readObject(shape, draft, path, problems) : undefined;
    case "array":
      return shape.kind === "array" ? readArray(shape, draft, path, problems) : undefined;
    case "boolean":
      return draft.on;
    case "constant":
      return shape.kind === "constant" ? shape.value : undefined;
    case "choice":
      return shape.kind === "choice" ? shape.options[draft.index ?? -1]?.value : undefined;
    case "text":
      if (shape.kind === "text") checkText(shape, draft.text, report);
      return draft.text;
    case "number":
      return shape.kind === "number" ? readNumber(shape, draft.text, report) : undefined;
    case "json": {
      const parsed = parseJson(draft.text);
      if (parsed.ok) return parsed.value as JsonValue;
      report("not_json", parsed.line);
      return undefined;
    }
  }
}

function readObject(
  shape: ObjectShape,
  draft: Extract<PartDraft, { kind: "object" }>,
  path: string,
  problems: PartProblem[],
): JsonValue {
  const entries: [string, JsonValue][] = [];
  shape.fields.forEach((field, index) => {
    const part = draft.fields[index];
    if (part === undefined) return;
    const value = readPart(field.shape, part, field.required, pathOf(path, field.name), problems);
    if (value !== undefined) entries.push([field.name, value]);
  });
  const { extra } = shape;
  const knownNames = new Set(shape.fields.map((field) => field.name));
  for (const row of draft.rows) {
    if (extra === null) break;
    const namePath = namePathOf(path, row.id);
    if (row.name === "") problems.push({ path: namePath, code: "no_name", bound: null });
    else if (knownNames.has(row.name))
      problems.push({ path: namePath, code: "name_taken", bound: null });
    knownNames.add(row.name);
    const value = readPart(extra, row.draft, true, pathOf(path, row.id), problems);
    if (value !== undefined) entries.push([row.name, value]);
  }
  // `fromEntries` defines own properties, including `__proto__`.
  return Object.fromEntries([...entries, ...draft.others]);
}

function readArray(
  shape: ArrayShape,
  draft: Extract<PartDraft, { kind: "array" }>,
  path: string,
  problems: PartProblem[],
): JsonValue {
  const { minItems, maxItems } = shape;
  const count = draft.rows.length;
  if (minItems !== null && count < minItems)
    problems.push({ path, code: "too_few", bound: minItems });
  if (maxItems !== null && count > maxItems)
    problems.push({ path, code: "too_many", bound: maxItems });
  return draft.rows.flatMap((row) => {
    const value = readPart(shape.item, row.draft, true, pathOf(path, row.id), problems);
    return value === undefined ? [] : [value];
  });
}

type ReportProblem = (code: ProblemCode, bound?: number | null) => void;

function readNumber(
  shape: NumberShape,
  text: string,
  report: ReportProblem,
): JsonValue | undefined {
  const written = text.trim();
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(written)) {
    report("not_a_number");
    return undefined;
  }
  const value = Number(written);
  const { minimum, maximum, above, below } = shape;
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
    report("not_exact");
  } else if (shape.integer && !Number.isInteger(value)) report("not_whole");
  else if (minimum !== null && value < minimum) report("too_small", minimum);
  else if (above !== null && value <= above) report("too_small", above);
  else if (maximum !== null && value > maximum) report("too_large", maximum);
  else if (below !== null && value >= below) report("too_large", below);
  return Number.isFinite(value) ? value : undefined;
}

/** Regular expressions of the validated formats. All of them match in linear time. */
const FORMATS: Record<TextFormat, { like: RegExp; code: ProblemCode }> = {
  email: { like: /^[^\s@]+@[^\s@]+$/, code: "not_an_email" },
  uri: { like: /^[A-Za-z][A-Za-z0-9+.-]*:\S*$/, code: "not_a_uri" },
  date: { like: /^\d{4}-\d{2}-\d{2}$/, code: "not_a_date" },
  "date-time": {
    like: /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/,
    code: "not_a_date_time",
  },
};

function checkText(shape: TextShape, text: string, report: ReportProblem): void {
  const { minLength, maxLength, format } = shape;
  const length = [...text].length;
  if (minLength !== null && length < minLength) report("too_short", minLength);
  else if (maxLength !== null && length > maxLength) report("too_long", maxLength);
  else if (format !== null) {
    const { like, code } = FORMATS[format];
    const isDate = format === "date" || format === "date-time";
    if (!like.test(text) || (isDate && Number.isNaN(Date.parse(text)))) report(code);
  }
}
