// Converts a tool's JSON Schema to the shape of a form. The schema is untrusted: reading is bounded, its regular
// expressions are shown and never run, and unsupported parts become JSON editors.

import type { JsonValue } from "$lib/api/generated";
import {
  MAX_HOPS,
  annotationsOf,
  common,
  constantOption,
  enumOptions,
  isNull,
  isPlain,
  fitsOneLine,
  json,
  resolvePointer,
  number,
  numberShape,
  onlyKeys,
  strings,
  textShape,
  typeOf,
} from "./keywords";
import {
  isObject,
  type Field,
  type JsonObject,
  type JsonReason,
  type Option,
  type Shape,
} from "./shape";

/** Maximum nesting depth of a schema that is converted to fields. */
export const MAX_DEPTH = 12;
/** Maximum number of fields of a form. */
export const MAX_FIELDS = 500;
/** Maximum number of options of a choice. */
export const MAX_OPTIONS = 500;
/** Maximum number of options of all choices in a form together. */
const MAX_ALL_OPTIONS = 5000;

/** Keywords that combine several schemas. */
const COMBINING = [
  "anyOf",
  "oneOf",
  "allOf",
  "if",
  "then",
  "else",
  "dependentSchemas",
  "patternProperties",
];
/** Returns the shape of the form for a tool's arguments. */
export function shapeOf(schema: JsonValue): Shape {
  const reader = new Reader(schema);
  const shape = reader.read(schema, 0, []);
  // Servers write `{"type":"object"}` without more for "no arguments".
  if (
    shape.kind === "json" &&
    shape.reason === "anything" &&
    isObject(schema) &&
    schema.type === "object"
  ) {
    if (schema.additionalProperties !== true) {
      return { ...shape, kind: "object", fields: [], extra: null };
    }
  }
  return shape;
}

class Reader {
  private fieldsLeft = MAX_FIELDS;
  private optionsLeft = MAX_ALL_OPTIONS;
  constructor(private readonly root: JsonValue) {}

  read(written: JsonValue, depth: number, open: string[]): Shape {
    if (written === true) return json({}, "anything");
    if (!isObject(written)) return json({}, "unclear");
    if (depth > MAX_DEPTH) return json(written, "too_deep");
    const resolved = this.resolve(written, open);
    if ("reason" in resolved) return json(written, resolved.reason);
    return this.readResolved(resolved.schema, depth, resolved.open);
  }

  /** Follows references and `allOf` with a single member to the schema of the value. */
  private resolve(
    written: JsonObject,
    open: string[],
  ): { schema: JsonObject; open: string[] } | { reason: JsonReason } {
    let schema = written;
    for (let hop = 0; hop < MAX_HOPS; hop += 1) {
      const { $ref, allOf, ...rest } = schema;
      const plain = isPlain(rest);
      if (typeof $ref === "string") {
        if (allOf !== undefined || !plain) return { reason: "combined" };
        if (!$ref.startsWith("#")) return { reason: "elsewhere" };
        if ($ref === "#" || open.includes($ref)) return { reason: "recursive" };
        const target = resolvePointer(this.root, $ref);
        if (!isObject(target)) return { reason: target === true ? "anything" : "unclear" };
        open = [...open, $ref];
        schema = { ...target, ...annotationsOf(rest) };
      } else if (Array.isArray(allOf) && allOf.length === 1 && isObject(allOf[0]) && plain) {
        schema = { ...allOf[0], ...annotationsOf(rest) };
      } else {
        return "$dynamicRef" in schema || "$recursiveRef" in schema
          ? { reason: "unclear" }
          : { schema, open };
      }
    }
    return { reason: "too_deep" };
  }

  private readResolved(schema: JsonObject, depth: number, open: string[]): Shape {
    if ("const" in schema) {
      return { ...common(schema), kind: "constant", value: schema.const ?? null };
    }
    if (Array.isArray(schema.enum)) return this.choice(schema, enumOptions(schema, schema.enum));

    let moreRules = false;
    const variants = schema.anyOf ?? schema.oneOf;
    if (Array.isArray(variants)) {
      const single = this.readVariants(schema, variants, depth, open);
      if (single !== null) return single;
      moreRules = true;
    } else if (COMBINING.some((key) => key in schema)) {
      return json(schema, "combined");
    }

    const { type, nullable } = typeOf(schema);
    const shape = this.readType(schema, type, depth, open);
    return {
      ...shape,
      nullable: shape.nullable || nullable,
      moreRules: shape.moreRules || moreRules,
    };
  }

  /** Returns the shape for `anyOf` or `oneOf`. `null` if these keywords only add rules to an object. */
  private readVariants(
    schema: JsonObject,
    variants: JsonValue[],
    depth: number,
    open: string[],
  ): Shape | null {
    const combinators = COMBINING.filter((key) => key in schema);
    if (combinators.length > 1 || variants.length > MAX_OPTIONS) return json(schema, "combined");
    if (variants.every((each) => isObject(each) && onlyKeys(each, ["required"]))) {
      return schema.properties === undefined ? json(schema, "combined") : null;
    }
    const rest = variants.filter((each) => !isNull(each));
    const nullable = rest.length < variants.length;
    const options = rest.map(constantOption);
    if (options.length > 0 && options.every((each) => each !== null)) {
      const shape = this.choice(schema, options);
      return { ...shape, nullable: shape.nullable || nullable };
    }
    const [only] = rest;
    const { anyOf: _anyOf, oneOf: _oneOf, ...around } = schema;
    if (rest.length === 1 && isObject(only) && isPlain(around)) {
      const shape = this.read(only, depth + 1, open);
      const annotations = common(schema);
      return {
        ...shape,
        title: annotations.title ?? shape.title,
        description: annotations.description ?? shape.description,
        fallback: annotations.fallback === undefined ? shape.fallback : annotations.fallback,
        nullable: shape.nullable || nullable,
      };
    }
    return json(schema, "combined");
  }

  private readType(schema: JsonObject, type: string | null, depth: number, open: string[]): Shape {
    switch (type) {
      case "object":
        return this.readObject(schema, depth, open);
      case "array":
        return this.readArray(schema, depth, open);
      case "boolean":
        return { ...common(schema), kind: "boolean" };
      case "integer":
      case "number":
        return numberShape(schema, type === "integer");
      case "string":
        return textShape(schema);
      case "null":
        return { ...common(schema), kind: "constant", value: null };
      case null:
        return json(schema, Array.isArray(schema.type) ? "combined" : "anything");
      default:
        return json(schema, "unclear");
    }
  }

  private readObject(schema: JsonObject, depth: number, open: string[]): Shape {
    const properties = schema.properties ?? {};
    if (!isObject(properties)) return json(schema, "unclear");
    const entries = new Map(Object.entries(properties));
    const required = new Set(strings(schema.required, MAX_FIELDS));
    for (const name of required) if (!entries.has(name)) entries.set(name, true);
    if (entries.size > this.fieldsLeft) return json(schema, "too_large");
    this.fieldsLeft -= entries.size;

    const combinators = schema.additionalProperties;
    const each = isObject(combinators) ? this.read(combinators, depth + 1, open) : null;
    const extra = each !== null && fitsOneLine(each) ? each : null;
    if (entries.size === 0 && extra === null) {
      const empty =
        combinators === false || (combinators === undefined && schema.properties !== undefined);
      if (!empty) return json(schema, "anything");
    }
    const fields = [...entries].map(([name, property]): Field => ({
      name,
      required: required.has(name),
      shape: this.read(property, depth + 1, open),
    }));
    return { ...common(schema), kind: "object", fields, extra };
  }

  private choice(schema: JsonObject, options: Option[]): Shape {
    if (options.length > Math.min(MAX_OPTIONS, this.optionsLeft)) return json(schema, "too_large");
    this.optionsLeft -= options.length;
    const nonNull = options.filter((each) => each.value !== null);
    if (nonNull.length === 0) return json(schema, "unclear");
    return {
      ...common(schema),
      kind: "choice",
      options: nonNull,
      nullable: nonNull.length < options.length,
    };
  }

  private readArray(schema: JsonObject, depth: number, open: string[]): Shape {
    if (Array.isArray(schema.items) || schema.prefixItems !== undefined)
      return json(schema, "combined");
    if (!isObject(schema.items)) return json(schema, "anything");
    const item = this.read(schema.items, depth + 1, open);
    return {
      ...common(schema),
      kind: "array",
      item,
      minItems: number(schema.minItems),
      maxItems: number(schema.maxItems),
    };
  }
}
