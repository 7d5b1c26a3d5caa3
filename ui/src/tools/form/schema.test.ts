import { describe, expect, test } from "vitest";

import type { JsonValue } from "$lib/api/generated";
import { fastestRunMs } from "$lib/testing/fastest";

import { MAX_DEPTH, shapeOf } from "./schema";
import type { Shape } from "./shape";

/** Returns a short notation of a shape, such as `{name*: text, tags: [text]}`. */
function inWords(shape: Shape): string {
  const or = shape.nullable ? "?" : "";
  switch (shape.kind) {
    case "object": {
      const fields = shape.fields.map(
        (field) => `${field.name}${field.required ? "*" : ""}: ${inWords(field.shape)}`,
      );
      if (shape.extra) fields.push(`...: ${inWords(shape.extra)}`);
      return `{${fields.join(", ")}}${or}`;
    }
    case "array":
      return `[${inWords(shape.item)}]${or}`;
    case "choice":
      return `choice(${shape.options.map((option) => option.title).join("|")})${or}`;
    case "constant":
      return `=${JSON.stringify(shape.value)}${or}`;
    case "number":
      return (shape.integer ? "integer" : "number") + or;
    case "text":
      return `${shape.format ?? "text"}${or}`;
    case "json":
      return `json:${shape.reason}`;
    case "boolean":
      return `boolean${or}`;
  }
}

const KINDS: [string, JsonValue, string][] = [
  ["text", { type: "string" }, "text"],
  ["an e-mail", { type: "string", format: "email" }, "email"],
  ["a time", { type: "string", format: "date-time" }, "date-time"],
  ["a format that is not checked", { type: "string", format: "hostname" }, "text"],
  ["a number", { type: "number" }, "number"],
  ["a whole number", { type: "integer" }, "integer"],
  ["integer or number", { type: ["integer", "number"] }, "number"],
  ["a boolean", { type: "boolean" }, "boolean"],
  ["null alone", { type: "null" }, "=null"],
  ["a constant", { const: "v1" }, '="v1"'],
  ["an enum", { type: "string", enum: ["a", "b"] }, "choice(a|b)"],
  ["an enum of several types", { enum: [1, "1", true] }, "choice(1|1|true)"],
  ["an enum with null", { enum: ["a", null] }, "choice(a)?"],
  ["an enum with names", { enum: ["a", "b"], enumNames: ["A", "B"] }, "choice(A|B)"],
  ["titled constants", { oneOf: [{ const: 1, title: "One" }, { const: 2 }] }, "choice(One|2)"],
  ["constants or null", { anyOf: [{ const: "x" }, { type: "null" }] }, "choice(x)?"],
  ["a type list with null", { type: ["string", "null"] }, "text?"],
  [
    "an optional as Pydantic writes it",
    { anyOf: [{ type: "integer" }, { type: "null" }] },
    "integer?",
  ],
  ["two types", { type: ["string", "number"] }, "json:combined"],
  ["several schemas", { anyOf: [{ type: "string" }, { type: "number" }] }, "json:combined"],
  ["allOf of two", { allOf: [{ type: "object" }, { type: "object" }] }, "json:combined"],
  ["allOf of one", { allOf: [{ type: "string" }], description: "d" }, "text"],
  ["a condition", { type: "object", if: {}, then: {} }, "json:combined"],
  ["a list", { type: "array", items: { type: "string" } }, "[text]"],
  [
    "a list of lists",
    { type: "array", items: { type: "array", items: { type: "integer" } } },
    "[[integer]]",
  ],
  ["a list of anything", { type: "array" }, "json:anything"],
  ["a tuple", { type: "array", prefixItems: [{ type: "string" }] }, "json:combined"],
  ["a tuple of draft 7", { type: "array", items: [{ type: "string" }] }, "json:combined"],
  [
    "an object",
    { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
    "{a*: text}",
  ],
  ["an object without a type", { properties: { a: { type: "boolean" } } }, "{a: boolean}"],
  [
    "a required field that isn't described",
    { type: "object", properties: {}, required: ["x"] },
    "{x*: json:anything}",
  ],
  ["a map", { type: "object", additionalProperties: { type: "string" } }, "{...: text}"],
  [
    "a map of objects",
    { type: "object", additionalProperties: { type: "object", properties: {} } },
    "json:anything",
  ],
  [
    "fields and more",
    { properties: { a: { type: "string" } }, additionalProperties: { type: "number" } },
    "{a: text, ...: number}",
  ],
  [
    "rules that only require",
    { properties: { a: { type: "string" } }, anyOf: [{ required: ["a"] }] },
    "{a: text}",
  ],
  ["pattern properties", { type: "object", patternProperties: { "^(a+)+$": {} } }, "json:combined"],
  ["anything", {}, "json:anything"],
  ["nothing", false, "json:unclear"],
  ["an unknown type", { type: "file" }, "json:unclear"],
  ["no schema", "string", "json:unclear"],
  ["another file", { $ref: "https://example.com/schema.json" }, "json:elsewhere"],
  ["a missing definition", { $ref: "#/$defs/x" }, "json:unclear"],
  ["a broken pointer", { $ref: "#/%zz" }, "json:unclear"],
  ["an empty enum", { enum: [] }, "json:unclear"],
];

test.each(KINDS)("%s", (_name, schema, words) => {
  const shape = shapeOf({ type: "object", properties: { part: schema } });
  expect(inWords(shape), "the part should have the shape of its schema").toBe(`{part: ${words}}`);
});

describe("the root schema", () => {
  test("without properties has no arguments", () => {
    expect(inWords(shapeOf({ type: "object" })), "the form should be empty").toBe("{}");
    expect(
      inWords(shapeOf({ type: "object", additionalProperties: false })),
      "the form should be empty",
    ).toBe("{}");
    expect(
      inWords(shapeOf({ type: "object", additionalProperties: true })),
      "arbitrary arguments should have a JSON editor",
    ).toBe("json:anything");
  });

  test("follows local references with the annotations next to them", () => {
    const shape = shapeOf({
      $ref: "#/definitions/Args",
      $schema: "http://json-schema.org/draft-07/schema#",
      definitions: {
        Args: {
          type: "object",
          properties: { at: { $ref: "#/definitions/a~1b%20c", description: "here" } },
        },
        "a/b c": { type: "object", title: "Place", properties: { x: { type: "number" } } },
      },
    });
    expect(inWords(shape), "both references should be resolved").toBe("{at: {x: number}}");
    const at = shape.kind === "object" ? shape.fields[0]?.shape : undefined;
    expect(
      [at?.title, at?.description],
      "annotations next to a reference should take precedence",
    ).toEqual(["Place", "here"]);
  });

  test("reads bounds, defaults and patterns", () => {
    const shape = shapeOf({
      type: "object",
      properties: {
        n: { type: "integer", minimum: 1, exclusiveMaximum: 9, default: 3 },
        s: { type: "string", minLength: 2, maxLength: 400, pattern: "^(a+)+$" },
        l: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 2 },
        o: { anyOf: [{ type: "string", default: "x" }, { type: "null" }], default: null },
        m: { type: "number", multipleOf: 0.5 },
      },
    });
    const shapes = shape.kind === "object" ? shape.fields.map((field) => field.shape) : [];
    expect(shapes[0], "the bounds of a number should be read").toMatchObject({
      minimum: 1,
      below: 9,
      fallback: 3,
    });
    expect(
      shapes[1],
      "the bounds of a text should be read, and the pattern kept as text",
    ).toMatchObject({
      ...{ minLength: 2, maxLength: 400, pattern: "^(a+)+$", long: true },
    });
    expect(shapes[2], "the bounds of a list should be read").toMatchObject({
      minItems: 1,
      maxItems: 2,
    });
    expect(shapes[3]?.fallback, "a default of null should be read").toBe(null);
    expect(shapes[4]?.moreRules, "unchecked rules should be mentioned").toBe(true);
  });
});

describe("hostile schemas (X30, X31)", () => {
  function timed(schema: JsonValue): { shape: Shape; duration: number } {
    return { shape: shapeOf(schema), duration: fastestRunMs(() => shapeOf(schema)) };
  }
  const many = (count: number, schema: JsonValue) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, schema]));

  test("10,000 properties", () => {
    const { shape, duration } = timed({
      type: "object",
      properties: many(10_000, { type: "string" }),
    });
    expect(inWords(shape), "too many fields should be edited as JSON").toBe("json:too_large");
    expect(duration, "parsing should take less than 200 ms").toBeLessThan(200);
  });

  test("500 levels", () => {
    let schema: JsonValue = { type: "string" };
    for (let i = 0; i < 500; i += 1) schema = { type: "object", properties: { a: schema } };
    const { shape, duration } = timed(schema);
    expect(inWords(shape).split("{").length - 1, "the levels should be bounded").toBe(
      MAX_DEPTH + 1,
    );
    expect(inWords(shape), "deeper levels should be edited as JSON").toContain("json:too_deep");
    expect(duration, "parsing should take less than 200 ms").toBeLessThan(200);
  });

  test("recursive references", () => {
    const node = { type: "object", properties: { next: { $ref: "#/$defs/node" } } };
    expect(
      inWords(
        shapeOf({ type: "object", properties: { n: { $ref: "#/$defs/node" } }, $defs: { node } }),
      ),
      "the reference should be followed once",
    ).toBe("{n: {next: json:recursive}}");
    expect(
      inWords(shapeOf({ $ref: "#" })),
      "a reference to the root should be edited as JSON",
    ).toBe("json:recursive");
    const pair = {
      $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } },
      $ref: "#/$defs/a",
    };
    expect(inWords(shapeOf(pair)), "a circle should be edited as JSON").toBe("json:recursive");
  });

  test("a few definitions that multiply", () => {
    const $defs: { [key in string]: JsonValue } = {};
    for (let i = 0; i < 11; i += 1) {
      $defs[`d${i}`] = { type: "object", properties: many(20, { $ref: `#/$defs/d${i + 1}` }) };
    }
    $defs.d11 = { type: "string" };
    const { shape, duration } = timed({ $defs, $ref: "#/$defs/d0" });
    expect(
      inWords(shape).split("p0:").length,
      "the number of fields should be bounded",
    ).toBeLessThan(30);
    expect(duration, "parsing should take less than 200 ms").toBeLessThan(200);
  });

  test("one enum of a megabyte, and one used everywhere", () => {
    const large = Array.from({ length: 100_000 }, (_, i) => `option ${i}`);
    expect(
      inWords(shapeOf({ properties: { a: { enum: large } } })),
      "too many options should be edited as JSON",
    ).toBe("{a: json:too_large}");
    const shape = shapeOf({
      properties: many(400, { $ref: "#/$defs/e" }),
      $defs: { e: { enum: large.slice(0, 400) } },
    });
    const choices =
      shape.kind === "object" ? shape.fields.filter((f) => f.shape.kind === "choice") : [];
    expect(choices.length, "the options of a form should be bounded together").toBe(12);
  });

  test("names with a meaning in JavaScript", () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"type":"string"},"constructor":{"$ref":"#/$defs/toString"}}}',
    ) as JsonValue;
    expect(inWords(shapeOf(schema)), "the names should be used like others").toBe(
      "{__proto__: text, constructor: json:unclear}",
    );
  });
});
