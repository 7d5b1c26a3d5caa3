// Insertion of the omitted content of an item.
import { expect, test } from "vitest";

import { setAtPointer, decodeOmitted } from "./omitted-content";

test("decodes bytes to base64 and long texts to text", () => {
  const omitted = { pointer: "/a~1b/0/text", hash: "00", bytes: 7 };
  const bytes = new TextEncoder().encode("港口 ok");
  const data = btoa(String.fromCharCode(...bytes));
  expect(decodeOmitted({ ...omitted, isText: true }, data), "a text in any script").toBe("港口 ok");
  expect(decodeOmitted({ ...omitted, isText: false }, data), "bytes stay as they came").toBe(data);
});

test("inserts content and keeps the other objects identical", () => {
  const body = { "a/b": [{ text: "" }, { text: "other" }], c: { d: 1 } };
  const restored = setAtPointer(body, "/a~1b/0/text", "long");
  expect(restored["a/b"][0]).toEqual({ text: "long" });
  expect(restored["a/b"][1], "what stays is the same").toBe(body["a/b"][1]);
  expect(restored.c, "also beside it").toBe(body.c);
  expect(body["a/b"][0], "the body that was read is as it was").toEqual({ text: "" });
  expect(setAtPointer(body, "/none/0", "long"), "no place, no text").toEqual(body);
});
