// Reads keywords of a JSON Schema from a server, which may have any type.

import type { JsonValue } from "$lib/api/generated";
import {
  isObject,
  type CommonShape,
  type JsonObject,
  type JsonEditorReason,
  type JsonShape,
  type NumberShape,
  type ChoiceOption,
  type Shape,
  type TextFormat,
  type TextShape,
} from "./shape";

/** Maximum number of references that are followed in a chain, and of segments in a reference. */
export const MAX_REFERENCE_HOPS = 32;

/** Keywords that are annotations and do not restrict the value. */
const ANNOTATIONS = new Set([
  ...["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"],
  ...["$comment", "$schema", "$id", "$anchor", "$defs", "definitions"],
]);
/** Keywords that only the server validates, not the form. */
const LEFT_TO_SERVER = [
  ...["not", "dependentRequired", "dependencies", "propertyNames", "contains", "multipleOf"],
  ...["minProperties", "maxProperties", "contentEncoding"],
];
const TEXT_FORMATS = new Set<string>(["email", "uri", "date", "date-time"]);

/** Returns the shape of a number with its bounds. */
export function numberShape(schema: JsonObject, integer: boolean): NumberShape {
  return {
    ...commonProperties(schema),
    kind: "number",
    integer,
    minimum: numberKeyword(schema.minimum),
    maximum: numberKeyword(schema.maximum),
    above: numberKeyword(schema.exclusiveMinimum),
    below: numberKeyword(schema.exclusiveMaximum),
  };
}

/** Returns the shape of a text with its bounds and format. */
export function textShape(schema: JsonObject): TextShape {
  const format = stringKeyword(schema.format);
  const maxLength = numberKeyword(schema.maxLength);
  return {
    ...commonProperties(schema),
    kind: "text",
    format: format !== null && TEXT_FORMATS.has(format) ? (format as TextFormat) : null,
    minLength: numberKeyword(schema.minLength),
    maxLength,
    pattern: stringKeyword(schema.pattern),
    long: (maxLength ?? 0) > 200 || schema.contentMediaType !== undefined,
  };
}

/** Returns an option for each value of an `enum`. */
export function enumOptions(schema: JsonObject, values: JsonValue[]): ChoiceOption[] {
  const names = Array.isArray(schema.enumNames) ? schema.enumNames : [];
  return values.map((value, index) => ({
    value,
    title: stringKeyword(names[index]) ?? titleOf(value),
  }));
}

/** Returns an option for a member of `oneOf` or `anyOf` that is a constant, otherwise `null`. */
export function constantOption(schema: JsonValue): ChoiceOption | null {
  if (!isObject(schema) || !("const" in schema)) return null;
  const value = schema.const ?? null;
  return { value, title: stringKeyword(schema.title) ?? titleOf(value) };
}

function titleOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns the shape of a part that is edited as JSON. */
export function jsonShape(schema: JsonObject, reason: JsonEditorReason): JsonShape {
  return { ...commonProperties(schema), kind: "json", reason, nullable: false };
}

/** Returns the properties that all shapes derive from their schema. */
export function commonProperties(schema: JsonObject): CommonShape {
  return {
    title: stringKeyword(schema.title),
    description: stringKeyword(schema.description),
    fallback: schema.default,
    nullable: false,
    moreRules: LEFT_TO_SERVER.some((key) => key in schema),
  };
}

/** Returns `true` if the schema has only annotations, so that it does not restrict the value. */
export function isUnrestricted(schema: JsonObject): boolean {
  return Object.keys(schema).every((key) => ANNOTATIONS.has(key));
}

/** Returns the annotations of a schema with a reference. They override those of the referenced schema. */
export function annotationsOf(schema: JsonObject): JsonObject {
  return Object.fromEntries(
    ["title", "description", "default"].flatMap((key) => {
      const value = schema[key];
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

/** Returns the only type of a schema besides `null`. Infers it from other keywords if it is not declared. */
export function schemaType(schema: JsonObject): { type: string | null; nullable: boolean } {
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

/** Resolves a reference to a schema within `root`: a JSON Pointer as a URI fragment (RFC 6901). */
export function resolvePointer(root: JsonValue, reference: string): JsonValue | undefined {
  const pointer = reference.slice(1);
  if (!pointer.startsWith("/")) return undefined;
  let here: JsonValue | undefined = root;
  for (const part of pointer.slice(1).split("/", MAX_REFERENCE_HOPS)) {
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

/** Returns `true` if the value can be edited in a single line. */
export function fitsOneLine(shape: Shape): boolean {
  return (
    shape.kind === "text" ||
    shape.kind === "number" ||
    shape.kind === "boolean" ||
    shape.kind === "choice"
  );
}

/** Returns `true` if `null` is the only valid value of the schema. */
export function allowsOnlyNull(schema: JsonValue): boolean {
  return isObject(schema) && (schema.type === "null" || schema.const === null);
}

/** Returns `true` if the schema has no keywords except these. */
export function hasOnlyKeys(schema: JsonObject, keys: string[]): boolean {
  return Object.keys(schema).every((key) => keys.includes(key));
}

/** Returns the value of a keyword if it is a string, otherwise `null`. */
export function stringKeyword(value: JsonValue | undefined): string | null {
  return typeof value === "string" ? value : null;
}

/** Returns the value of a keyword if it is a number, otherwise `null`. */
export function numberKeyword(value: JsonValue | undefined): number | null {
  return typeof value === "number" ? value : null;
}

/** Returns the strings of a list-valued keyword, at most `limit`. */
export function stringListKeyword(value: JsonValue | undefined, limit: number): string[] {
  return Array.isArray(value)
    ? value.filter((each) => typeof each === "string").slice(0, limit)
    : [];
}
