import { expect, test } from "vitest";

import { sampleSnapshot, startFakeHost } from "$lib/testing/fake-host";

import { errorLine } from "./error-title";

const within = (language: "en" | "zh") =>
  startFakeHost({}, { settings: { ...sampleSnapshot().settings, language } });

test("an error is one line: the host's words, in Chinese after the title of their kind", async () => {
  const error = { code: "system", message: "the disk is full" };
  await within("en");
  expect(errorLine(error)).toBe("the disk is full");
  expect(errorLine({ code: "system", message: "" })).toBe("The system could not complete this");
  await within("zh");
  expect(errorLine(error)).toBe("系统无法完成此操作：the disk is full");
});
