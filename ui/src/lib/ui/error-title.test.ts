import { expect, test } from "vitest";

import { sampleSnapshot, startFakeHost } from "$lib/testing/fake-host";

import { errorText } from "./error-title";

const startHostInLanguage = (language: "en" | "zh") =>
  startFakeHost({}, { settings: { ...sampleSnapshot().settings, language } });

test("formats an error as one line, with the title of its kind in Chinese", async () => {
  const error = { code: "system", message: "the disk is full" };
  await startHostInLanguage("en");
  expect(errorText(error)).toBe("the disk is full");
  expect(errorText({ code: "system", message: "" })).toBe("The system could not complete this");
  await startHostInLanguage("zh");
  expect(errorText(error)).toBe("系统无法完成此操作：the disk is full");
});
