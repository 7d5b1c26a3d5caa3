// Converts a tool's JSON Schema to the shape of a form. The schema is untrusted: reading is bounded, its regular
// expressions are shown and never run, and unsupported parts become JSON editors.

import type { JsonValue } from "$lib/api/generated";
import {
  MAX_REFERENCE_HOPS,
  annotationsOf,
  commonProperties,
  constantOption,
  enumOptions,
  allowsOnlyNull,
  isUnrestricted,
  fitsOneLine,
  jsonShape,
  resolvePointer,
  numberKeyword,
  numberShape,
  hasOnlyKeys,
  stringListKeyword,
  textShape,
  schemaType,
} from "./keywords";
import {
  isObject,
  type ObjectField,
  type JsonObject,
  type JsonEditorReason,
  type ChoiceOption,
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
    if (written === true) return jsonShape({}, "anything");
    if (!isObject(written)) return jsonShape({}, "unclear");
    if (depth > MAX_DEPTH) return jsonShape(written, "too_deep");
    const resolved = this.resolve(written, open);
    if ("reason" in resolved) return jsonShape(written, resolved.reason);
    return this.readResolved(resolved.schema, depth, resolved.open);
  }

  /** Follows references and `allOf` with a single member to the schema of the value. */
  private resolve(
    written: JsonObject,
    open: string[],
  ): { schema: JsonObject; open: string[] } | { reason: JsonEditorReason } {
    let schema = written;
    for (let hop = 0; hop < MAX_REFERENCE_HOPS; hop += 1) {
      const { $ref, allOf, ...rest } = schema;
      const plain = isUnrestricted(rest);
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
      return { ...commonProperties(schema), kind: "constant", value: schema.const ?? null };
    }
    if (Array.isArray(schema.enum)) return this.choice(schema, enumOptions(schema, schema.enum));

    let moreRules = false;
    const variants = schema.anyOf ?? schema.oneOf;
    if (Array.isArray(variants)) {
      const single = this.readVariants(schema, variants, depth, open);
      if (single !== null) return single;
      moreRules = true;
    } else if (COMBINING.some((key) => key in schema)) {
      return jsonShape(schema, "combined");
    }

    const { type, nullable } = schemaType(schema);
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
    if (combinators.length > 1 || variants.length > MAX_OPTIONS)
      return jsonShape(schema, "combined");
    if (variants.every((each) => isObject(each) && hasOnlyKeys(each, ["required"]))) {
      return schema.properties === undefined ? jsonShape(schema, "combined") : null;
    }
    const rest = variants.filter((each) => !allowsOnlyNull(each));
    const nullable = rest.length < variants.length;
    const options = rest.map(constantOption);
    if (options.length > 0 && options.every((each) => each !== null)) {
      const shape = this.choice(schema, options);
      return { ...shape, nullable: shape.nullable || nullable };
    }
    const [only] = rest;
    const { anyOf: _anyOf, oneOf: _oneOf, ...around } = schema;
    if (rest.length === 1 && isObject(only) && isUnrestricted(around)) {
      const shape = this.read(only, depth + 1, open);
      const annotations = commonProperties(schema);
      return {
        ...shape,
        title: annotations.title ?? shape.title,
        description: annotations.description ?? shape.description,
        fallback: annotations.fallback === undefined ? shape.fallback : annotations.fallback,
        nullable: shape.nullable || nullable,
      };
    }
    return jsonShape(schema, "combined");
  }

  private readType(schema: JsonObject, type: string | null, depth: number, open: string[]): Shape {
    switch (type) {
      case "object":
        return this.readObject(schema, depth, open);
      case "array":
        return this.readArray(schema, depth, open);
      case "boolean":
        return { ...commonProperties(schema), kind: "boolean" };
      case "integer":
      case "number":
        return numberShape(schema, type === "integer");
      case "string":
        return textShape(schema);
      case "null":
        return { ...commonProperties(schema), kind: "constant", value: null };
      case null:
        return jsonShape(schema, Array.isArray(schema.type) ? "combined" : "anything");
      default:
        return jsonShape(schema, "unclear");
    }
  }

  private readObject(schema: JsonObject, depth: number, open: string[]): Shape {
    const properties = schema.properties ?? {};
    if (!isObject(properties)) return jsonShape(schema, "unclear");
    const entries = new Map(Object.entries(properties));
    const required = new Set(stringListKeyword(schema.required, MAX_FIELDS));
    for (const name of required) if (!entries.has(name)) entries.set(name, true);
    if (entries.size > this.fieldsLeft) return jsonShape(schema, "too_large");
    this.fieldsLeft -= entries.size;

    const combinators = schema.additionalProperties;
    const each = isObject(combinators) ? this.read(combinators, depth + 1, open) : null;
    const extra = each !== null && fitsOneLine(each) ? each : null;
    if (entries.size === 0 && extra === null) {
      const empty =
        combinators === false || (combinators === undefined && schema.properties !== undefined);
      if (!empty) return jsonShape(schema, "anything");
    }
    const fields = [...entries].map(([name, property]): ObjectField => ({
      name,
      required: required.has(name),
      shape: this.read(property, depth + 1, open),
    }));
    return { ...commonProperties(schema), kind: "object", fields, extra };
  }

  private choice(schema: JsonObject, options: ChoiceOption[]): Shape {
    if (options.length > Math.min(MAX_OPTIONS, this.optionsLeft))
      return jsonShape(schema, "too_large");
    this.optionsLeft -= options.length;
    const nonNull = options.filter((each) => each.value !== null);
    if (nonNull.length === 0) return jsonShape(schema, "unclear");
    return {
      ...commonProperties(schema),
      kind: "choice",
      options: nonNull,
      nullable: nonNull.length < options.length,
    };
  }

  private readArray(schema: JsonObject, depth: number, open: string[]): Shape {
    if (Array.isArray(schema.items) || schema.prefixItems !== undefined)
      return jsonShape(schema, "combined");
    if (!isObject(schema.items)) return jsonShape(schema, "anything");
    const item = this.read(schema.items, depth + 1, open);
    return {
      ...commonProperties(schema),
      kind: "array",
      item,
      minItems: numberKeyword(schema.minItems),
      maxItems: numberKeyword(schema.maxItems),
    };
  }
}
