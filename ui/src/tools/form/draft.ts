// What a form holds while it is filled in. A draft has the tree of its shape, but may be unfinished: text that is no
// number yet, JSON that doesn't end, a part that is omitted. `form-value.ts` makes a value of it.

import type { JsonValue } from "$lib/api/generated";
import { isObject, type ArrayShape, type ObjectShape, type Shape } from "./shape";

/** How many rows of a list are shown as fields; a longer list is edited as JSON. */
export const MAX_ROWS = 100;

/** Whether a part is sent: left out, as `null`, or with a value. */
export type Presence = "absent" | "null" | "given";

/** One row of a list or a map. */
export interface Row {
  /** Stays with the row while it is moved. */
  id: number;
  draft: Draft;
}

/** One row of a map. */
export interface MapRow extends Row {
  name: string;
}

/** What is filled in for one part. Fields of an object stand in the order of its shape. */
export type Draft = { presence: Presence } & (
  | { kind: "object"; fields: Draft[]; rows: MapRow[]; others: [string, JsonValue][] }
  | { kind: "array"; rows: Row[] }
  | { kind: "text"; text: string }
  | { kind: "number"; text: string }
  | { kind: "boolean"; on: boolean }
  | { kind: "choice"; index: number | null }
  | { kind: "constant" }
  /** `misfit` marks a value that the shape has no place for. */
  | { kind: "json"; text: string; misfit: boolean }
);

let lastRow = 0;

function row(draft: Draft): Row {
  lastRow += 1;
  return { id: lastRow, draft };
}

/** A draft with nothing filled in but what must be sent and has a default. */
export function emptyDraft(shape: Shape, required: boolean): Draft {
  if (required && shape.fallback !== undefined) return draftOf(shape, shape.fallback, true);
  const presence: Presence = required ? "given" : "absent";
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

/** The draft that has this value. What doesn't fit the shape is kept as JSON. */
export function draftOf(shape: Shape, value: JsonValue | undefined, required: boolean): Draft {
  if (value === undefined) {
    return { ...emptyDraft({ ...shape, fallback: undefined }, required), presence: "absent" };
  }
  if (value === null && shape.nullable) {
    return { ...emptyDraft({ ...shape, fallback: undefined }, required), presence: "null" };
  }
  return fittingDraft(shape, value) ?? jsonDraft(value, shape.kind !== "json");
}

function fittingDraft(shape: Shape, value: JsonValue): Draft | null {
  const presence = "given";
  switch (shape.kind) {
    case "object":
      return isObject(value) ? objectDraft(shape, value) : null;
    case "array":
      if (!Array.isArray(value) || value.length > MAX_ROWS) return null;
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

function objectDraft(shape: ObjectShape, value: { [key in string]: JsonValue }): Draft | null {
  const known = new Set(shape.fields.map((field) => field.name));
  const unknown = Object.entries(value).filter(([name]) => !known.has(name));
  if (unknown.length > MAX_ROWS) return null;
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

/** A part as JSON text. */
export function jsonDraft(value: JsonValue, misfit: boolean): Draft {
  return { kind: "json", presence: "given", text: JSON.stringify(value, null, 2), misfit };
}

/** Whether two values are the same JSON, written in the same order. */
export function sameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Takes what was typed. An emptied field that may be left out is omitted; one that must be sent is sent empty. */
export function type(draft: Draft, text: string, required: boolean): void {
  if (draft.kind !== "text" && draft.kind !== "number" && draft.kind !== "json") return;
  draft.text = text;
  const sendsEmpty = draft.kind === "text" && required;
  draft.presence = text === "" && !sendsEmpty ? "absent" : "given";
}

/** Takes an option, or none. */
export function choose(draft: Draft, index: number | null): void {
  if (draft.kind !== "choice") return;
  draft.index = index;
  draft.presence = index === null ? "absent" : "given";
}

/** Sets what a boolean says, or leaves it out. */
export function answer(draft: Draft, on: boolean | null): void {
  if (draft.kind !== "boolean") return;
  draft.on = on ?? false;
  draft.presence = on === null ? "absent" : "given";
}

/** Appends an empty row to a list. */
export function addRow(shape: ArrayShape, draft: Draft): void {
  if (draft.kind !== "array" || draft.rows.length >= MAX_ROWS) return;
  draft.rows.push(row(emptyDraft(shape.item, true)));
  draft.presence = "given";
}

/** Appends an empty row to a map. */
export function addEntry(shape: ObjectShape, draft: Draft): void {
  if (draft.kind !== "object" || shape.extra === null || draft.rows.length >= MAX_ROWS) return;
  draft.rows.push({ ...row(emptyDraft(shape.extra, true)), name: "" });
  draft.presence = "given";
}

/** Takes a row out of a list or a map. An empty list that may be left out is omitted. */
export function removeRow(draft: Draft, id: number, required: boolean): void {
  if (draft.kind !== "array" && draft.kind !== "object") return;
  const at = draft.rows.findIndex((each) => each.id === id);
  if (at < 0) return;
  draft.rows.splice(at, 1);
  if (draft.kind === "array" && draft.rows.length === 0 && !required) draft.presence = "absent";
}

/** Moves a row of a list up (`-1`) or down (`1`). */
export function moveRow(draft: Draft, id: number, by: -1 | 1): void {
  if (draft.kind !== "array") return;
  const at = draft.rows.findIndex((each) => each.id === id);
  const to = at + by;
  if (at < 0 || to < 0 || to >= draft.rows.length) return;
  const [moved] = draft.rows.splice(at, 1);
  if (moved !== undefined) draft.rows.splice(to, 0, moved);
}

/** Sends `null`, or takes that back. */
export function sendNull(draft: Draft, on: boolean): void {
  draft.presence = on ? "null" : "absent";
}

/** Sends a part that has no value of its own to be typed (an object, a constant), or leaves it out. */
export function include(draft: Draft, on: boolean): void {
  draft.presence = on ? "given" : "absent";
}

/** Names a row of a map. */
export function nameRow(row: MapRow, name: string): void {
  row.name = name;
}

/** Empties a part, so that it has the fields of its shape again. */
export function startAgain(shape: Shape, draft: Draft, required: boolean): void {
  Object.assign(draft, emptyDraft({ ...shape, fallback: undefined }, required));
}
