import { render, screen, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import type { JsonValue } from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";

import SchemaFormProbe from "./SchemaFormProbe.test.svelte";

const EVERY_KIND: JsonValue = {
  type: "object",
  required: ["name", "count", "color", "sure", "version"],
  properties: {
    name: { type: "string", title: "Name", description: "Who is\u202emeant", pattern: "^(a+)+$" },
    count: { type: "integer", minimum: 1, maximum: 9 },
    color: { enum: ["red", "green"] },
    sure: { type: "boolean" },
    version: { const: "v1" },
    at: { type: "string", format: "date-time", default: "2026-01-01T00:00:00Z" },
    tags: { type: "array", items: { type: "string" } },
    place: { type: "object", properties: { x: { type: "number" } }, required: ["x"] },
    headers: { type: "object", additionalProperties: { type: "string" } },
    rest: { anyOf: [{ type: "string" }, { type: "number" }] },
    maybe: { type: ["string", "null"] },
  },
};

function show(schema: JsonValue, value?: JsonValue) {
  const observed: { value: JsonValue | undefined; ready: boolean } = {
    value: undefined,
    ready: false,
  };
  const { component } = render(SchemaFormProbe, { schema, value, observed });
  return {
    observed,
    check: () => component.check(),
    setValue: (to: JsonValue) => component.setValue(to),
  };
}

test("renders every kind of field with a label and without axe violations", async () => {
  show(EVERY_KIND);
  expect(
    screen.getByRole("textbox", { name: "Name" }),
    "text should have a text field",
  ).toBeRequired();
  expect(
    screen.getByRole("textbox", { name: "count" }),
    "a number should have a text field",
  ).toBeInTheDocument();
  expect(
    screen.getByRole("combobox", { name: "color" }),
    "options should have a select element",
  ).toBeInTheDocument();
  expect(
    screen.getByRole("combobox", { name: "sure" }),
    "a boolean should have a select element",
  ).toHaveValue("false");
  expect(
    screen.getByRole("button", { name: "Add to tags" }),
    "a list should have a button to add items",
  ).toBeInTheDocument();
  expect(
    screen.getByRole("checkbox", { name: "Send place" }),
    "an optional object should have a check box",
  ).not.toBeChecked();
  expect(
    screen.getByRole("textbox", { name: "rest" }),
    "other values should have a JSON editor",
  ).toBeInTheDocument();
  expect(screen.getByText("^(a+)+$"), "a pattern should be shown but not run").toBeInTheDocument();
  expect(
    screen.getByText("U+202E"),
    "hidden characters of a description should be named",
  ).toBeInTheDocument();
  expect(
    screen.getByText('"2026-01-01T00:00:00Z"'),
    "the default of the server should be shown",
  ).toBeInTheDocument();
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
});

test("builds the value from the filled fields, and omits the others", async () => {
  const user = userEvent.setup();
  const { observed } = show(EVERY_KIND);
  expect(observed, "only required values with one option should be sent").toEqual({
    value: { sure: false, version: "v1" },
    ready: false,
  });
  await user.type(screen.getByRole("textbox", { name: "Name" }), "Ann");
  await user.type(screen.getByRole("textbox", { name: "count" }), "3");
  await user.selectOptions(screen.getByRole("combobox", { name: "color" }), "green");
  await user.click(screen.getByRole("button", { name: "Add to tags" }));
  await user.type(screen.getByRole("textbox", { name: "tags 1" }), "t");
  await user.click(screen.getByRole("checkbox", { name: "Send place" }));
  await user.type(screen.getByRole("textbox", { name: "x" }), "1.5");
  await user.click(screen.getByRole("checkbox", { name: "Send headers" }));
  await user.click(screen.getByRole("button", { name: "Add an entry" }));
  await user.type(screen.getByRole("textbox", { name: "Name 1" }), "k");
  await user.type(screen.getByRole("textbox", { name: "Value 1" }), "v");
  await user.click(screen.getByRole("checkbox", { name: "Send null for maybe" }));
  expect(observed, "all filled fields should be sent").toEqual({
    value: {
      ...{ name: "Ann", count: 3, color: "green", sure: false, version: "v1" },
      ...{ tags: ["t"], place: { x: 1.5 }, headers: { k: "v" }, maybe: null },
    },
    ready: true,
  });
  await user.click(screen.getByRole("button", { name: "Remove tags 1" }));
  expect((observed.value as { tags?: JsonValue }).tags, "an emptied list should be omitted").toBe(
    undefined,
  );
});

test("shows problems next to their fields, and focuses the first one", async () => {
  const user = userEvent.setup();
  const { observed, check } = show(EVERY_KIND);
  const count = screen.getByRole("textbox", { name: "count" });
  await user.type(count, "12x");
  expect(count, "an invalid number should be marked while typing").toHaveAccessibleDescription(
    "Not a number.",
  );
  const name = screen.getByRole("textbox", { name: "Name" });
  expect(name, "a missing value should not be marked before an attempt").toBeValid();
  expect(check(), "the form should be invalid").toBe(false);
  await expect.poll(() => document.activeElement, { message: "name should be focused" }).toBe(name);
  expect(name, "a missing value should be marked after an attempt").toHaveAccessibleDescription(
    "Enter a value.",
  );
  expect(observed.ready, "the form should not be ready").toBe(false);
});

test("keeps the JSON view and the fields in sync", async () => {
  const user = userEvent.setup();
  const { observed, setValue } = show(
    { properties: { a: { type: "string" }, n: { type: "integer" } } },
    { a: "x" },
  );
  await user.click(screen.getByRole("button", { name: "JSON" }));
  const json = screen.getByRole("textbox", { name: "Arguments as JSON" });
  expect(json, "the JSON should contain the values of the fields").toHaveValue('{\n  "a": "x"\n}');
  await user.clear(json);
  await user.click(json);
  await user.paste('{"a":"y","n":"no number","more":1}');
  expect(observed, "JSON should be allowed to violate the schema").toEqual({
    value: { a: "y", n: "no number", more: 1 },
    ready: true,
  });
  await user.click(screen.getByRole("button", { name: "Form" }));
  expect(
    screen.getByRole("textbox", { name: "a" }),
    "the field should have the value of the JSON",
  ).toHaveValue("y");
  expect(
    screen.getByRole("textbox", { name: "n" }),
    "a value without a field should be kept as JSON",
  ).toHaveValue('"no number"');
  expect(screen.getByText("more"), "a member without a field should be shown").toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Clear" }));
  expect(observed.value, "a value should be removable").toEqual({ a: "y", more: 1 });
  setValue({ a: "from outside" });
  await expect
    .poll(() => screen.getByRole<HTMLInputElement>("textbox", { name: "a" }).value, {
      message: "a value from outside",
    })
    .toBe("from outside");
});

test("shows the position of a JSON error, and keeps the fields unchanged", async () => {
  const user = userEvent.setup();
  const { observed } = show({ properties: { a: { type: "string" } } }, { a: "x" });
  await user.click(screen.getByRole("button", { name: "JSON" }));
  const json = screen.getByRole("textbox", { name: "Arguments as JSON" });
  await user.clear(json);
  await user.click(json);
  await user.paste('{\n"a" 1}');
  expect(json, "the line and the column should be shown").toHaveAccessibleDescription(
    "Not valid JSON: line 2, column 5",
  );
  expect(observed, "there should be no value").toEqual({ value: undefined, ready: false });
  expect(
    screen.getByRole("button", { name: "Form" }),
    "the form view should be disabled while the JSON is invalid",
  ).toBeDisabled();
});

test("preserves line breaks pasted into a text", async () => {
  const user = userEvent.setup();
  const { observed } = show({ properties: { a: { type: "string" } } });
  await user.click(screen.getByRole("textbox", { name: "a" }));
  await user.paste("one\ntwo");
  expect(observed.value, "the line break should be sent").toEqual({ a: "one\ntwo" });
  expect(
    screen.getByRole("textbox", { name: "a" }).tagName,
    "the field should have several lines",
  ).toBe("TEXTAREA");
});

test("moves rows of a list with their buttons", async () => {
  const user = userEvent.setup();
  const { observed } = show(
    { properties: { l: { type: "array", items: { type: "integer" } } } },
    { l: [1, 2, 3] },
  );
  const list = within(screen.getByRole("list", { name: "l" }));
  await user.click(list.getByRole("button", { name: "Move l 3 up" }));
  expect(observed.value, "the row should be moved").toEqual({ l: [1, 3, 2] });
  expect(
    list.getByRole("button", { name: "Move l 1 up" }),
    "the first row should not move up",
  ).toBeDisabled();
});

test("shows a JSON editor for a hostile schema", () => {
  const properties = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, i) => [`p${i}`, { type: "string" }]),
  );
  show({ type: "object", properties });
  expect(screen.getAllByRole("textbox"), "there should be one editor").toHaveLength(1);
});
