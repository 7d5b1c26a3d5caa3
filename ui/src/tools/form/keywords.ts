// Reads single keywords of a JSON Schema, whatever a server wrote there.

import type { JsonValue } from "$lib/api/generated";
import {
  isObject,
  type Common,
  type JsonObject,
  type JsonReason,
  type JsonShape,
  type NumberShape,
  type Option,
  type Shape,
  type TextFormat,
  type TextShape,
} from "./shape";

/** How many references may lead to one another, and how many steps a reference may have. */
export const MAX_HOPS = 32;

/** Keywords that say something about a value and don't restrict it. */
const ANNOTATIONS = new Set([
  ...["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"],
  ...["$comment", "$schema", "$id", "$anchor", "$defs", "definitions"],
]);
/** Keywords whose rules are left to the server. */
const LEFT_TO_SERVER = [
  ...["not", "dependentRequired", "dependencies", "propertyNames", "contains", "multipleOf"],
  ...["minProperties", "maxProperties", "contentEncoding"],
];
const TEXT_FORMATS = new Set<string>(["email", "uri", "date", "date-time"]);

/** A number with its bounds. */
export function numberShape(schema: JsonObject, integer: boolean): NumberShape {
  return {
    ...common(schema),
    kind: "number",
    integer,
    minimum: number(schema.minimum),
    maximum: number(schema.maximum),
    above: number(schema.exclusiveMinimum),
    below: number(schema.exclusiveMaximum),
  };
}

/** A text with its bounds and format. */
export function textShape(schema: JsonObject): TextShape {
  const format = text(schema.format);
  const maxLength = number(schema.maxLength);
  return {
    ...common(schema),
    kind: "text",
    format: format !== null && TEXT_FORMATS.has(format) ? (format as TextFormat) : null,
    minLength: number(schema.minLength),
    maxLength,
    pattern: text(schema.pattern),
    long: (maxLength ?? 0) > 200 || schema.contentMediaType !== undefined,
  };
}

/** The options of an `enum`. */
export function enumOptions(schema: JsonObject, values: JsonValue[]): Option[] {
  const names = Array.isArray(schema.enumNames) ? schema.enumNames : [];
  return values.map((value, index) => ({ value, title: text(names[index]) ?? titleOf(value) }));
}

/** The option that a member of `oneOf` or `anyOf` stands for, if it is one constant. */
export function constantOption(schema: JsonValue): Option | null {
  if (!isObject(schema) || !("const" in schema)) return null;
  const value = schema.const ?? null;
  return { value, title: text(schema.title) ?? titleOf(value) };
}

function titleOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A part to be written as JSON. */
export function json(schema: JsonObject, reason: JsonReason): JsonShape {
  return { ...common(schema), kind: "json", reason, nullable: false };
}

/** What every shape takes from its schema. */
export function common(schema: JsonObject): Common {
  return {
    title: text(schema.title),
    description: text(schema.description),
    fallback: schema.default,
    nullable: false,
    moreRules: LEFT_TO_SERVER.some((key) => key in schema),
  };
}

/** Whether the schema says nothing that restricts a value. */
export function isPlain(schema: JsonObject): boolean {
  return Object.keys(schema).every((key) => ANNOTATIONS.has(key));
}

/** The words beside a reference, which go before those of its target. */
export function annotationsOf(schema: JsonObject): JsonObject {
  return Object.fromEntries(
    ["title", "description", "default"].flatMap((key) => {
      const value = schema[key];
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

/** The one type that the value has beside `null`, guessed from other keywords when it isn't written. */
export function typeOf(schema: JsonObject): { type: string | null; nullable: boolean } {
  if (typeof schema.type === "string") return { type: schema.type, nullable: false };
  if (Array.isArray(schema.type)) {
    const types = [...new Set(schema.type)].filter((each) => each !== "null");
    const nullable = schema.type.includes("null");
    const [only] = types;
    if (types.length === 0) return { type: "null", nullable: false };
    if (types.length === 1 && typeof only === "string") return { type: only, nullable };
    if (types.length === 2 && types.includes("integer") && types.includes("number"))
      return { type: "number", nullable };
    return { type: null, nullable };
  }
  if (isObject(schema.properties)) return { type: "object", nullable: false };
  if (schema.items !== undefined) return { type: "array", nullable: false };
  return { type: null, nullable: false };
}

/** What a JSON pointer in a reference (RFC 6901, as a URI fragment) leads to. */
export function lookUp(root: JsonValue, reference: string): JsonValue | undefined {
  const pointer = reference.slice(1);
  if (!pointer.startsWith("/")) return undefined;
  let here: JsonValue | undefined = root;
  for (const part of pointer.slice(1).split("/", MAX_HOPS)) {
    const key = unescapePart(part);
    if (key === null || typeof here !== "object" || here === null || !Object.hasOwn(here, key))
      return undefined;
    here = (here as JsonObject)[key];
  }
  return here;
}

function unescapePart(part: string): string | null {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return null;
  }
}

/** Whether one line holds the value. */
export function isSimple(shape: Shape): boolean {
  return (
    shape.kind === "text" ||
    shape.kind === "number" ||
    shape.kind === "boolean" ||
    shape.kind === "choice"
  );
}

/** Whether the schema takes `null` alone. */
export function isNull(schema: JsonValue): boolean {
  return isObject(schema) && (schema.type === "null" || schema.const === null);
}

/** Whether the schema has no keywords but these. */
export function onlyKeys(schema: JsonObject, keys: string[]): boolean {
  return Object.keys(schema).every((key) => keys.includes(key));
}

/** The keyword if it is text. */
export function text(value: JsonValue | undefined): string | null {
  return typeof value === "string" ? value : null;
}

/** The keyword if it is a number. */
export function number(value: JsonValue | undefined): number | null {
  return typeof value === "number" ? value : null;
}

/** The texts of a list, at most so many. */
export function strings(value: JsonValue | undefined, limit: number): string[] {
  return Array.isArray(value)
    ? value.filter((each) => typeof each === "string").slice(0, limit)
    : [];
}
