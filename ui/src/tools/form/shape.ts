// The shape of a form: what is shown for a JSON Schema, part by part.

import type { JsonValue } from "$lib/api/generated";

/** An object of JSON. */
export type JsonObject = { [key in string]: JsonValue };

/** Why a part is shown as JSON text. */
export type JsonReason =
  "anything" | "combined" | "recursive" | "too_deep" | "too_large" | "elsewhere" | "unclear";

/** The formats of text that are checked. */
export type TextFormat = "email" | "uri" | "date" | "date-time";

/** One option of a choice. */
export interface Option {
  value: JsonValue;
  title: string;
}

/** What every part of a form has. */
export interface Common {
  title: string | null;
  description: string | null;
  /** What the server takes when the part is omitted. */
  fallback: JsonValue | undefined;
  /** Whether `null` may be sent. */
  nullable: boolean;
  /** Whether the schema has rules that the form doesn't know; the server checks them. */
  moreRules: boolean;
}

/** A named part of an object. */
export interface Field {
  name: string;
  required: boolean;
  shape: Shape;
}

export type ObjectShape = Common & { kind: "object"; fields: Field[]; extra: Shape | null };
export type ArrayShape = Common & {
  kind: "array";
  item: Shape;
  minItems: number | null;
  maxItems: number | null;
};
export type NumberShape = Common & {
  kind: "number";
  integer: boolean;
  minimum: number | null;
  maximum: number | null;
  above: number | null;
  below: number | null;
};
export type TextShape = Common & {
  kind: "text";
  format: TextFormat | null;
  minLength: number | null;
  maxLength: number | null;
  /** A regular expression, to be shown only. */
  pattern: string | null;
  long: boolean;
};
export type ChoiceShape = Common & { kind: "choice"; options: Option[] };
export type ConstantShape = Common & { kind: "constant"; value: JsonValue };
export type BooleanShape = Common & { kind: "boolean" };
export type JsonShape = Common & { kind: "json"; reason: JsonReason };

/** What a form shows for a schema. */
export type Shape =
  | ObjectShape
  | ArrayShape
  | NumberShape
  | TextShape
  | ChoiceShape
  | ConstantShape
  | BooleanShape
  | JsonShape;

/** Whether the value is an object and no list. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
