// What was left out of an item, put into its place.
import { expect, test } from "vitest";

import { setAtPointer, decodeOmitted } from "./omitted-content";

test("bytes stand in base64, and long texts as they are", () => {
  const left = { pointer: "/a~1b/0/text", hash: "00", bytes: 7 };
  const bytes = new TextEncoder().encode("港口 ok");
  const data = btoa(String.fromCharCode(...bytes));
  expect(decodeOmitted({ ...left, isText: true }, data), "a text in any script").toBe("港口 ok");
  expect(decodeOmitted({ ...left, isText: false }, data), "bytes stay as they came").toBe(data);
});

test("what is put into its place leaves the rest the same objects", () => {
  const body = { "a/b": [{ text: "" }, { text: "other" }], c: { d: 1 } };
  const whole = setAtPointer(body, "/a~1b/0/text", "long");
  expect(whole["a/b"][0]).toEqual({ text: "long" });
  expect(whole["a/b"][1], "what stays is the same").toBe(body["a/b"][1]);
  expect(whole.c, "also beside it").toBe(body.c);
  expect(body["a/b"][0], "the body that was read is as it was").toEqual({ text: "" });
  expect(setAtPointer(body, "/none/0", "long"), "no place, no text").toEqual(body);
});
