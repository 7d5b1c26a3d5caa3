import { describe, expect, test } from "vitest";

import type { JsonValue } from "$lib/api/generated";

import {
  addMapRow,
  addRow,
  setBoolean,
  chooseOption,
  draftOf,
  emptyDraft,
  moveRow,
  removeRow,
  type,
  type PartDraft,
} from "./draft";
import { convertDraft } from "./form-value";
import { SchemaFormState } from "./form.svelte";
import { shapeOf } from "./schema";

/** Creates a form with a single part, and returns the part's draft. */
function part(schema: JsonValue, required = true) {
  const shape = shapeOf({ properties: { a: schema }, required: required ? ["a"] : [] });
  const draft = emptyDraft(shape, true);
  const inner = draft.kind === "object" ? draft.fields[0] : undefined;
  if (inner === undefined || shape.kind !== "object") throw new Error("the schema has no part");
  return {
    draft: inner,
    shape: shape.fields[0]?.shape,
    /** The value of the part, or the code of its problem. */
    get is(): JsonValue | undefined {
      const { value, problems } = convertDraft(shape, draft);
      if (problems[0]) return `! ${problems[0].code} ${problems[0].bound ?? ""}`.trim();
      return (value as { a?: JsonValue }).a;
    },
  };
}

const TYPED: [string, JsonValue, string, JsonValue][] = [
  ["text", { type: "string" }, "hello", "hello"],
  ["too short", { type: "string", minLength: 3 }, "ab", "! too_short 3"],
  ["characters, not code units", { type: "string", maxLength: 2 }, "😀😀", "😀😀"],
  ["too long", { type: "string", maxLength: 2 }, "abc", "! too_long 2"],
  ["an e-mail", { type: "string", format: "email" }, "a@b", "a@b"],
  ["no e-mail", { type: "string", format: "email" }, "a b@c", "! not_an_email"],
  ["a URI", { type: "string", format: "uri" }, "urn:x", "urn:x"],
  ["no URI", { type: "string", format: "uri" }, "/x", "! not_a_uri"],
  ["a date", { type: "string", format: "date" }, "2026-02-28", "2026-02-28"],
  ["no date", { type: "string", format: "date" }, "2026-13-01", "! not_a_date"],
  [
    "a time",
    { type: "string", format: "date-time" },
    "2026-02-28T10:00:00Z",
    "2026-02-28T10:00:00Z",
  ],
  [
    "a time without a zone",
    { type: "string", format: "date-time" },
    "2026-02-28T10:00:00",
    "! not_a_date_time",
  ],
  [
    "a pattern is not run",
    { type: "string", pattern: "^(a+)+$" },
    "a".repeat(50) + "!",
    "a".repeat(50) + "!",
  ],
  ["a number", { type: "number" }, " -1.5e2 ", -150],
  ["no number", { type: "number" }, "12a", "! not_a_number"],
  ["no number that JavaScript would take", { type: "number" }, "0x10", "! not_a_number"],
  ["not whole", { type: "integer" }, "1.5", "! not_whole"],
  ["whole", { type: "integer" }, "1.0", 1],
  ["not exact", { type: "integer" }, "12345678901234567890", "! not_exact"],
  ["too small", { type: "number", minimum: 1 }, "0.9", "! too_small 1"],
  ["at an open bound", { type: "number", exclusiveMinimum: 1 }, "1", "! too_small 1"],
  ["too large", { type: "number", maximum: 1 }, "1.1", "! too_large 1"],
  ["at an open upper bound", { type: "number", exclusiveMaximum: 1 }, "1", "! too_large 1"],
  ["JSON", {}, '{"x":[1]}', { x: [1] }],
  ["no JSON", {}, '{\n"x":', "! not_json 2"],
];

test.each(TYPED)("typed: %s", (_name, schema, text, expected) => {
  const a = part(schema);
  type(a.draft, text, true);
  expect(a.is, "the value or the problem should be determined").toEqual(expected);
});

describe("omitted parts", () => {
  test("an empty optional part", () => {
    const kinds: JsonValue[] = [
      { type: "string" },
      { type: "integer" },
      { type: "boolean" },
      { enum: [1] },
      { const: 1 },
      {},
    ];
    for (const schema of kinds) {
      expect(part(schema, false).is, `${JSON.stringify(schema)} should be omitted`).toBe(undefined);
    }
    expect(
      part({ type: "array", items: { type: "string" } }, false).is,
      "an empty list should be omitted",
    ).toBe(undefined);
    expect(
      part({ properties: { b: { default: 1, type: "integer" } } }, false).is,
      "an empty object should be omitted",
    ).toBe(undefined);
  });

  test("an optional default is left to the server, a required one is filled in", () => {
    expect(
      part({ type: "integer", default: 3 }, false).is,
      "an optional default should be omitted",
    ).toBe(undefined);
    expect(part({ type: "integer", default: 3 }).is, "a required default should be filled in").toBe(
      3,
    );
    expect(
      part({ type: "integer", default: "three" }).is,
      "an invalid default should be shown",
    ).toBe("three");
  });

  test("required parts have initial values", () => {
    expect(part({ type: "string" }).is, "missing text should be reported").toBe("! required");
    expect(part({ type: "boolean" }).is, "a required boolean should be false").toBe(false);
    expect(
      part({ type: "array", items: { type: "string" } }).is,
      "a required list should be empty",
    ).toEqual([]);
    expect(
      part({ type: "array", items: { type: "string" }, minItems: 1 }).is,
      "a required list with too few items should be reported",
    ).toBe("! too_few 1");
    expect(part({ const: 7 }).is, "a constant should be sent").toBe(7);
    expect(part({ enum: ["a"] }).is, "a missing option should be reported").toBe("! required");
  });

  test("emptied text is omitted, or sent empty if required", () => {
    const optional = part({ type: "string" }, false);
    type(optional.draft, "x", false);
    expect(optional.is, "the text should be sent").toBe("x");
    type(optional.draft, "", false);
    expect(optional.is, "empty optional text should be omitted").toBe(undefined);
    const required = part({ type: "string" });
    type(required.draft, "x", true);
    type(required.draft, "", true);
    expect(required.is, "empty required text should be sent").toBe("");
  });

  test("null", () => {
    const a = part({ type: ["string", "null"] });
    a.draft.presence = "null";
    expect(a.is, "null should be sent").toBe(null);
  });
});

describe("rows", () => {
  const list = () => {
    const a = part({ type: "array", items: { type: "string" }, maxItems: 2 }, false);
    if (a.draft.kind !== "array" || a.shape?.kind !== "array") throw new Error("no list");
    return { a, draft: a.draft, shape: a.shape };
  };

  test("are added, moved and removed", () => {
    const { a, draft, shape } = list();
    for (const text of ["x", "y"]) {
      addRow(shape, draft);
      type((draft.rows.at(-1) as { draft: PartDraft }).draft, text, true);
    }
    expect(a.is, "the rows should be in order").toEqual(["x", "y"]);
    const [first, second] = draft.rows.map((row) => row.id);
    moveRow(draft, first ?? 0, 1);
    expect(a.is, "the row should be moved down").toEqual(["y", "x"]);
    moveRow(draft, first ?? 0, 1);
    expect(a.is, "the last row should not be moved down").toEqual(["y", "x"]);
    addRow(shape, draft);
    expect(a.is, "too many rows should be reported").toBe("! too_many 2");
    for (const id of draft.rows.map((row) => row.id)) removeRow(draft, id, false);
    expect(a.is, `a map without rows should be omitted (${second})`).toBe(undefined);
  });

  test("of a map need unique names", () => {
    const a = part({ type: "object", additionalProperties: { type: "integer" } });
    if (a.draft.kind !== "object" || a.shape?.kind !== "object") throw new Error("no map");
    for (const name of ["", "k", "k"]) {
      addMapRow(a.shape, a.draft);
      const row = a.draft.rows.at(-1);
      if (row === undefined) throw new Error("no row");
      row.name = name;
      type(row.draft, "1", true);
    }
    expect(a.is, "a row without a name should be reported").toBe("! no_name");
    removeRow(a.draft, a.draft.rows[0]?.id ?? 0, true);
    expect(a.is, "a duplicate name should be reported").toBe("! name_taken");
    removeRow(a.draft, a.draft.rows[0]?.id ?? 0, true);
    expect(a.is, "one entry should be sent").toEqual({ k: 1 });
  });
});

test("selects options and booleans", () => {
  const a = part({ enum: [{ deep: 1 }, "b"] });
  chooseOption(a.draft, 0);
  expect(a.is, "an option should accept any JSON value").toEqual({ deep: 1 });
  chooseOption(a.draft, null);
  expect(a.is, "no option should be selected").toBe("! required");
  const b = part({ type: "boolean" }, false);
  setBoolean(b.draft, false);
  expect(b.is, "false should differ from an omitted value").toBe(false);
});

describe("displays and preserves any value", () => {
  const schema: JsonValue = {
    type: "object",
    properties: {
      s: { type: "string" },
      n: { type: ["number", "null"] },
      c: { enum: ["a", "b"] },
      l: { type: "array", items: { type: "object", properties: { x: { type: "integer" } } } },
      o: { type: "object", properties: { y: { type: "boolean" } } },
      m: { type: "object", additionalProperties: { type: "string" } },
      j: {},
    },
    required: ["s"],
  };
  const values: JsonValue[] = [
    {},
    { s: "" },
    { s: 5, n: "x", c: "z", l: {}, o: [], m: 1, j: null },
    {
      s: "line\nline",
      n: null,
      c: "b",
      l: [{ x: 1 }, { x: "1" }, 7, {}],
      o: { y: true, more: [1] },
    },
    { s: null, l: Array.from({ length: 500 }, (_, i) => ({ x: i })), m: { a: "1", b: 2 } },
    { unknown: { deep: [{}] }, j: [[]] },
    JSON.parse('{"__proto__":{"polluted":true},"m":{"__proto__":"x"}}') as JsonValue,
  ];
  test.each(values.map((value) => [JSON.stringify(value).slice(0, 60), value]))(
    "%s",
    (_text, value) => {
      const shape = shapeOf(schema);
      const { value: back } = convertDraft(shape, draftOf(shape, value, true));
      expect(back, "the value should be unchanged").toEqual(value);
      expect(Object.keys(back as object).sort(), "only own names should be included").toEqual(
        Object.keys(value as object).sort(),
      );
    },
  );
});

describe("the JSON view", () => {
  const schema: JsonValue = {
    properties: { a: { type: "string" }, n: { type: "integer" } },
    required: ["a"],
  };

  test("stays in sync with the fields", () => {
    const form = new SchemaFormState(schema, { a: "x" });
    form.show("json");
    expect(form.text, "the JSON should be formatted").toBe('{\n  "a": "x"\n}');
    form.write('{"a":"y","n":2,"extra":true}');
    form.show("fields");
    expect(form.value, "a member without a field should be kept").toEqual({
      a: "y",
      n: 2,
      extra: true,
    });
    expect(
      form.draft.kind === "object" && form.draft.fields[1],
      "the field should have the value",
    ).toMatchObject({ text: "2" });
  });

  test("keeps the view and the last value on an error", () => {
    const form = new SchemaFormState(schema, { a: "x" });
    form.show("json");
    form.write('{\n "a": }');
    expect(form.mistake, "the position should be reported").toEqual({
      at: "place",
      line: 2,
      column: 7,
    });
    expect([form.ready, form.value], "there should be no value").toEqual([false, undefined]);
    form.show("fields");
    expect(form.view, "the JSON view should stay open").toBe("json");
    form.write("[]");
    expect(form.mistake, "other values than objects should be rejected").toEqual({ at: "kind" });
  });

  test("may violate the schema, unlike the fields", () => {
    const form = new SchemaFormState(schema, { n: 1.5 });
    expect(form.ready, "the fields should have problems").toBe(false);
    expect([...form.shown.keys()], "missing values should be marked after an attempt").toEqual([
      "/n",
    ]);
    form.tried = true;
    expect([...form.shown.keys()], "further missing values should be marked").toEqual(["/a", "/n"]);
    form.show("json");
    expect(form.ready, "JSON should be sent unchanged").toBe(true);
  });

  test("takes an external value, but not its own again", () => {
    const form = new SchemaFormState(schema, { a: "x" });
    const draft = form.draft;
    form.follow({ a: "x" });
    expect(form.draft, "an equal value should change nothing").toBe(draft);
    form.follow({ a: "z" });
    expect(form.value, "another value should be taken").toEqual({ a: "z" });
  });
});
