import { expect, test } from "vitest";

import { exceedsJsonLength } from "./json-length";

const LIMIT = 1_000_000;

test.each([
  ["an empty object", {}],
  [
    "members and elements",
    { id: 1, params: { list: ["a", null, true, 2.5], empty: [], name: "" } },
  ],
  ["members that JSON omits", { a: undefined, b: 1 }],
  [
    "other objects",
    { at: new Date(0), map: new Map([["a", 1]]), view: new DataView(new ArrayBuffer(8)) },
  ],
  [
    "typed arrays",
    { bytes: new Uint8Array(3), none: new Uint8Array(), numbers: new Float64Array(2) },
  ],
  ["objects of primitive values", [new String("text"), new Number(1), new Boolean(true)]],
])("%s are within the length of their text", (_, value) => {
  expect(exceedsJsonLength(value, JSON.stringify(value).length)).toBe(false);
});

test("a long text exceeds the limit", () => {
  const value = { text: "x".repeat(LIMIT) };
  expect(exceedsJsonLength(value, LIMIT)).toBe(true);
  expect(exceedsJsonLength(value, JSON.stringify(value).length)).toBe(false);
});

test("small values whose text would be endless or far too long exceed the limit", () => {
  let doubled: object = {};
  for (let level = 0; level < 100; level += 1) doubled = { a: doubled, b: doubled };
  expect(exceedsJsonLength(doubled, LIMIT), "a part that occurs many times").toBe(true);
  const cycle: { next?: object } = {};
  cycle.next = cycle;
  expect(exceedsJsonLength(cycle, LIMIT), "a cycle").toBe(true);
  expect(exceedsJsonLength({ list: new Array(4_000_000_000) }, LIMIT), "a sparse array").toBe(true);
  expect(exceedsJsonLength({ bytes: new Uint8Array(LIMIT / 5) }, LIMIT), "bytes").toBe(true);
  const text = new String("x".repeat(LIMIT / 100));
  expect(exceedsJsonLength(new Array(100).fill(text), LIMIT), "a repeated text").toBe(true);
});
