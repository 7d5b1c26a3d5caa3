// Draft values of a form. A draft has the tree of its shape but may be incomplete: text that is not a number yet,
// unfinished JSON, an omitted part. `form-value.ts` converts it to a value.

import type { JsonValue } from "$lib/api/generated";
import { isObject, type ArrayShape, type ObjectShape, type Shape } from "./shape";

/** Maximum number of list rows that are edited as fields. A longer list is edited as JSON. */
export const MAX_FORM_ROWS = 100;

/** Presence of a part in the value: omitted, `null`, or with a value. */
export type PartPresence = "absent" | "null" | "given";

/** Row of a list or a map in the form. */
export interface FormRow {
  /** Key of the row, which stays the same when rows move. */
  id: number;
  draft: PartDraft;
}

/** Row of a map in the form, with the name of its member. */
export interface MapRow extends FormRow {
  name: string;
}

/** Draft of one part of a form. Fields of an object are in the order of its shape. */
export type PartDraft = { presence: PartPresence } & (
  | { kind: "object"; fields: PartDraft[]; rows: MapRow[]; others: [string, JsonValue][] }
  | { kind: "array"; rows: FormRow[] }
  | { kind: "text"; text: string }
  | { kind: "number"; text: string }
  | { kind: "boolean"; on: boolean }
  | { kind: "choice"; index: number | null }
  | { kind: "constant" }
  /** `misfit` is set if the value does not match the shape of its schema. */
  | { kind: "json"; text: string; misfit: boolean }
);

let lastRow = 0;

function row(draft: PartDraft): FormRow {
  lastRow += 1;
  return { id: lastRow, draft };
}

/** Returns a draft in which only required parts have their default values. */
export function emptyDraft(shape: Shape, required: boolean): PartDraft {
  if (required && shape.fallback !== undefined) return draftOf(shape, shape.fallback, true);
  const presence: PartPresence = required ? "given" : "absent";
  switch (shape.kind) {
    case "object":
      return {
        kind: "object",
        presence,
        fields: shape.fields.map((field) => emptyDraft(field.shape, field.required)),
        rows: [],
        others: [],
      };
    case "array":
      return { kind: "array", presence, rows: [] };
    case "boolean":
      return { kind: "boolean", presence, on: false };
    case "constant":
      return { kind: "constant", presence };
    case "choice":
      return { kind: "choice", presence: "absent", index: null };
    case "json":
      return { kind: "json", presence: "absent", text: "", misfit: false };
    case "number":
    case "text":
      return { kind: shape.kind, presence: "absent", text: "" };
  }
}

/** Returns a draft with an existing value. A value that does not match the shape is kept as JSON. */
export function draftOf(shape: Shape, value: JsonValue | undefined, required: boolean): PartDraft {
  if (value === undefined) {
    return { ...emptyDraft({ ...shape, fallback: undefined }, required), presence: "absent" };
  }
  if (value === null && shape.nullable) {
    return { ...emptyDraft({ ...shape, fallback: undefined }, required), presence: "null" };
  }
  return fittingDraft(shape, value) ?? jsonDraft(value, shape.kind !== "json");
}

function fittingDraft(shape: Shape, value: JsonValue): PartDraft | null {
  const presence = "given";
  switch (shape.kind) {
    case "object":
      return isObject(value) ? objectDraft(shape, value) : null;
    case "array":
      if (!Array.isArray(value) || value.length > MAX_FORM_ROWS) return null;
      return {
        kind: "array",
        presence,
        rows: value.map((each) => row(draftOf(shape.item, each, true))),
      };
    case "boolean":
      return typeof value === "boolean" ? { kind: "boolean", presence, on: value } : null;
    case "number":
      return typeof value === "number" ? { kind: "number", presence, text: String(value) } : null;
    case "text":
      return typeof value === "string" ? { kind: "text", presence, text: value } : null;
    case "choice": {
      const index = shape.options.findIndex((option) => sameJson(option.value, value));
      return index < 0 ? null : { kind: "choice", presence, index };
    }
    case "constant":
      return sameJson(shape.value, value) ? { kind: "constant", presence } : null;
    case "json":
      return null;
  }
}

function objectDraft(shape: ObjectShape, value: { [key in string]: JsonValue }): PartDraft | null {
  const known = new Set(shape.fields.map((field) => field.name));
  const unknown = Object.entries(value).filter(([name]) => !known.has(name));
  if (unknown.length > MAX_FORM_ROWS) return null;
  const { extra } = shape;
  return {
    kind: "object",
    presence: "given",
    fields: shape.fields.map((field) =>
      draftOf(
        field.shape,
        Object.hasOwn(value, field.name) ? value[field.name] : undefined,
        field.required,
      ),
    ),
    rows:
      extra === null
        ? []
        : unknown.map(([name, each]) => ({ ...row(draftOf(extra, each, true)), name })),
    others: extra === null ? unknown : [],
  };
}

/** Returns a draft that is edited as JSON text. */
export function jsonDraft(value: JsonValue, misfit: boolean): PartDraft {
  return { kind: "json", presence: "given", text: JSON.stringify(value, null, 2), misfit };
}

/** Returns `true` if two values have the same JSON representation. */
export function sameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/**
 * Applies typed text to a draft. An emptied field is omitted if it is optional, and otherwise sent as an empty text.
 */
export function type(draft: PartDraft, text: string, required: boolean): void {
  if (draft.kind !== "text" && draft.kind !== "number" && draft.kind !== "json") return;
  draft.text = text;
  const sendsEmpty = draft.kind === "text" && required;
  draft.presence = text === "" && !sendsEmpty ? "absent" : "given";
}

/** Selects the option at `index`. `null` clears the selection. */
export function chooseOption(draft: PartDraft, index: number | null): void {
  if (draft.kind !== "choice") return;
  draft.index = index;
  draft.presence = index === null ? "absent" : "given";
}

/** Sets a boolean draft. `null` omits the value. */
export function setBoolean(draft: PartDraft, on: boolean | null): void {
  if (draft.kind !== "boolean") return;
  draft.on = on ?? false;
  draft.presence = on === null ? "absent" : "given";
}

/** Appends an empty row to a list. */
export function addRow(shape: ArrayShape, draft: PartDraft): void {
  if (draft.kind !== "array" || draft.rows.length >= MAX_FORM_ROWS) return;
  draft.rows.push(row(emptyDraft(shape.item, true)));
  draft.presence = "given";
}

/** Appends an empty row to a map. */
export function addMapRow(shape: ObjectShape, draft: PartDraft): void {
  if (draft.kind !== "object" || shape.extra === null || draft.rows.length >= MAX_FORM_ROWS) return;
  draft.rows.push({ ...row(emptyDraft(shape.extra, true)), name: "" });
  draft.presence = "given";
}

/** Removes a row of a list or a map. A list that becomes empty is omitted if it is optional. */
export function removeRow(draft: PartDraft, id: number, required: boolean): void {
  if (draft.kind !== "array" && draft.kind !== "object") return;
  const at = draft.rows.findIndex((each) => each.id === id);
  if (at < 0) return;
  draft.rows.splice(at, 1);
  if (draft.kind === "array" && draft.rows.length === 0 && !required) draft.presence = "absent";
}

/** Moves a row of a list up (`-1`) or down (`1`). */
export function moveRow(draft: PartDraft, id: number, by: -1 | 1): void {
  if (draft.kind !== "array") return;
  const at = draft.rows.findIndex((each) => each.id === id);
  const to = at + by;
  if (at < 0 || to < 0 || to >= draft.rows.length) return;
  const [moved] = draft.rows.splice(at, 1);
  if (moved !== undefined) draft.rows.splice(to, 0, moved);
}

/** Sets a part to `null`, or omits it again. */
export function setNull(draft: PartDraft, on: boolean): void {
  draft.presence = on ? "null" : "absent";
}

/** Includes or omits a part that has no text value, such as an object or a constant. */
export function setIncluded(draft: PartDraft, on: boolean): void {
  draft.presence = on ? "given" : "absent";
}

/** Sets the name of a row of a map. */
export function setRowName(row: MapRow, name: string): void {
  row.name = name;
}

/** Resets a part to an empty draft with the fields of its shape. */
export function resetDraft(shape: Shape, draft: PartDraft, required: boolean): void {
  Object.assign(draft, emptyDraft({ ...shape, fallback: undefined }, required));
}
