// Property test of forms for arbitrary schemas: parsing is bounded, and values are preserved. The schemas are
// deterministic mutations of `tests/fuzz/corpus/tool_schema`. The duration of the test is bounded.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { JsonValue } from "$lib/api/generated";

import { draftOf } from "./draft";
import { convertDraft } from "./form-value";
import { MAX_DEPTH, MAX_FIELDS, MAX_OPTIONS, shapeOf } from "./schema";
import { isObject, type Shape } from "./shape";

const CORPUS = join(import.meta.dirname, "../../../../tests/fuzz/corpus/tool_schema");
const SECONDS = Number(process.env.FUZZ_SECONDS ?? 1.5);
/** Keywords and names that have a meaning in schemas or in JavaScript. */
const NAMES = [
  ...[
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "const",
    "oneOf",
    "anyOf",
    "allOf",
    "$ref",
  ],
  ...["$defs", "default", "format", "minimum", "maxLength", "additionalProperties", "prefixItems"],
  ...["__proto__", "toString", "constructor", "length", "", "a/b"],
];
const VALUES: JsonValue[] = [
  ...[null, true, false, 0, -1, 1.5, 1e308, 9007199254740991, "", "string", "object", "array"],
  ...["integer", "null", "#", "#/$defs/n", "#/properties/a", "https://evil.example/x", "\u202e"],
  ...([[], {}, ["string", "null"], [[]], { type: "string" }, { $ref: "#" }] as JsonValue[]),
];

/** Deterministic pseudorandom number generator (xorshift). */
class Random {
  private state = 0x2f6e2b1;

  below(count: number): number {
    this.state ^= this.state << 13;
    this.state ^= this.state >>> 17;
    this.state ^= this.state << 5;
    return (this.state >>> 0) % count;
  }

  of<T>(all: readonly T[]): T {
    return all[this.below(all.length)] as T;
  }
}

/** Returns the value with one random part replaced, removed, added or repeated. */
function mutated(value: JsonValue, random: Random): JsonValue {
  const descends = random.below(4) > 0;
  if (Array.isArray(value)) {
    if (descends && value.length > 0) {
      const at = random.below(value.length);
      return value.map((each, index) => (index === at ? mutated(each, random) : each));
    }
    return random.of([[], [...value, random.of(VALUES)], [...value, ...value], random.of(VALUES)]);
  }
  if (isObject(value)) {
    const entries = Object.entries(value);
    const at = random.below(entries.length + 1);
    const [name, part] = entries[at] ?? [random.of(NAMES), random.of(VALUES)];
    const others = entries.filter((_, index) => index !== at);
    if (descends) return Object.fromEntries([...others, [name, mutated(part, random)]]);
    const all: [string, JsonValue][][] = [
      others,
      [...others, [random.of(NAMES), part]],
      [...others, [name, random.of(VALUES)]],
      [...entries, [random.of(NAMES), value]],
    ];
    return Object.fromEntries(random.of(all));
  }
  return random.of(VALUES);
}

/** Returns the number of fields and options in a shape, and its depth. */
function size(shape: Shape, depth = 0): { fields: number; options: number; depth: number } {
  const sum = { fields: 0, options: 0, depth };
  const parts: Shape[] = [];
  if (shape.kind === "object") {
    sum.fields += shape.fields.length;
    parts.push(...shape.fields.map((field) => field.shape));
    if (shape.extra) parts.push(shape.extra);
  } else if (shape.kind === "array") {
    parts.push(shape.item);
  } else if (shape.kind === "choice") {
    expect(shape.options.length).toBeLessThanOrEqual(MAX_OPTIONS);
    sum.options += shape.options.length;
  }
  for (const part of parts) {
    const inner = size(part, depth + 1);
    sum.fields += inner.fields;
    sum.options += inner.options;
    sum.depth = Math.max(sum.depth, inner.depth);
  }
  return sum;
}

/** Returns a copy with the members of all objects in sorted order, so that values can be compared as text. */
function withSortedKeys(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((each) => withSortedKeys(each) ?? null);
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(
    ([name, part]) => [name, withSortedKeys(part) ?? null] as const,
  );
  return Object.fromEntries(members.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Returns `true` if a form for the schema preserves the value or reports a problem. */
function check(schema: JsonValue, value: JsonValue): boolean {
  const words = JSON.stringify({ schema, value });
  const shape = shapeOf(schema);
  const { fields, options, depth } = size(shape);
  expect(fields, words).toBeLessThanOrEqual(MAX_FIELDS);
  expect(options, words).toBeLessThanOrEqual(10 * MAX_OPTIONS);
  expect(depth, words).toBeLessThanOrEqual(MAX_DEPTH + 1);
  const filled = convertDraft(shape, draftOf(shape, value, true));
  if (filled.problems.length > 0) return false;
  expect(JSON.stringify(withSortedKeys(filled.value)), words).toBe(
    JSON.stringify(withSortedKeys(value)),
  );
  return true;
}

test(
  "preserves values for any schema",
  () => {
    const seeds = readdirSync(CORPUS).map((name) => {
      const seed = JSON.parse(readFileSync(join(CORPUS, name), "utf8")) as {
        schema: JsonValue;
        value: JsonValue;
      };
      check(seed.schema, seed.value);
      return seed;
    });
    expect(seeds.length).toBeGreaterThan(4);
    const random = new Random();
    const end = performance.now() + SECONDS * 1000;
    let [inputs, preserved] = [0, 0];
    while (performance.now() < end || inputs < 100) {
      let { schema, value } = random.of(seeds);
      for (let count = 1 + random.below(4); count > 0; count -= 1) {
        if (random.below(3) > 0) schema = mutated(schema, random);
        else value = mutated(value, random);
      }
      if (check(schema, value)) preserved += 1;
      inputs += 1;
    }
    expect(preserved).toBeGreaterThan(inputs / 20);
  },
  SECONDS * 1000 + 20_000,
);
