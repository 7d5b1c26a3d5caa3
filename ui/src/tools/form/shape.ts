// Shape of a form: the fields for a JSON Schema.

import type { JsonValue } from "$lib/api/generated";

/** JSON object with arbitrary members. */
export type JsonObject = { [key in string]: JsonValue };

/** Reason why a part of a form is edited as JSON. */
export type JsonEditorReason =
  "anything" | "combined" | "recursive" | "too_deep" | "too_large" | "elsewhere" | "unclear";

/** Text formats that the form validates. */
export type TextFormat = "email" | "uri" | "date" | "date-time";

/** Option of a choice field. */
export interface ChoiceOption {
  value: JsonValue;
  title: string;
}

/** Properties that every shape has. */
export interface CommonShape {
  title: string | null;
  description: string | null;
  /** Default value that the server uses if the part is omitted. */
  fallback: JsonValue | undefined;
  /** Set if `null` is a valid value. */
  nullable: boolean;
  /** Set if the schema has rules that only the server validates. */
  moreRules: boolean;
}

/** Named member of an object with its shape. */
export interface ObjectField {
  name: string;
  required: boolean;
  shape: Shape;
}

export type ObjectShape = CommonShape & {
  kind: "object";
  fields: ObjectField[];
  extra: Shape | null;
};
export type ArrayShape = CommonShape & {
  kind: "array";
  item: Shape;
  minItems: number | null;
  maxItems: number | null;
};
export type NumberShape = CommonShape & {
  kind: "number";
  integer: boolean;
  minimum: number | null;
  maximum: number | null;
  above: number | null;
  below: number | null;
};
export type TextShape = CommonShape & {
  kind: "text";
  format: TextFormat | null;
  minLength: number | null;
  maxLength: number | null;
  /** Regular expression of the schema. It is displayed and never evaluated. */
  pattern: string | null;
  long: boolean;
};
export type ChoiceShape = CommonShape & { kind: "choice"; options: ChoiceOption[] };
export type ConstantShape = CommonShape & { kind: "constant"; value: JsonValue };
export type BooleanShape = CommonShape & { kind: "boolean" };
export type JsonShape = CommonShape & { kind: "json"; reason: JsonEditorReason };

/** Shape of the form for one schema. */
export type Shape =
  | ObjectShape
  | ArrayShape
  | NumberShape
  | TextShape
  | ChoiceShape
  | ConstantShape
  | BooleanShape
  | JsonShape;

/** Returns `true` if the value is an object and not an array. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
