// Insertion of the omitted content of an item.
import { expect, test } from "vitest";

import { setAtPointer, decodeOmitted } from "./omitted-content";

test("decodes bytes to base64 and long texts to text", () => {
  const omitted = { pointer: "/a~1b/0/text", hash: "00", bytes: 7 };
  const bytes = new TextEncoder().encode("港口 ok");
  const data = btoa(String.fromCharCode(...bytes));
  expect(
    decodeOmitted({ ...omitted, isText: true }, data),
    "text in any script should be decoded",
  ).toBe("港口 ok");
  expect(decodeOmitted({ ...omitted, isText: false }, data), "bytes should be unchanged").toBe(
    data,
  );
});

test("inserts content and keeps the other objects identical", () => {
  const body = { "a/b": [{ text: "" }, { text: "other" }], c: { d: 1 } };
  const restored = setAtPointer(body, "/a~1b/0/text", "long");
  expect(restored["a/b"][0]).toEqual({ text: "long" });
  expect(restored["a/b"][1], "unchanged objects should be identical").toBe(body["a/b"][1]);
  expect(restored.c, "objects next to the inserted content should be identical").toBe(body.c);
  expect(body["a/b"][0], "the original body should be unchanged").toEqual({ text: "" });
  expect(
    setAtPointer(body, "/none/0", "long"),
    "a missing target should leave the body unchanged",
  ).toEqual(body);
});
