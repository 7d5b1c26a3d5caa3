// The title that a conversation takes from its first message.
import { expect, test } from "vitest";

import { sampleSnapshot, startFakeHost } from "$lib/testing/fake-host";

import { setAutomaticTitle } from "./automatic-title";

test.each([
  ["New conversation", "en", true],
  ["New conversation", "zh", true],
  ["新对话", "en", true],
  ["Trip plan", "en", false],
  ["new conversation", "en", false],
] as const)("%s is replaced in %s: %s", async (title, language, isReplaced) => {
  const host = await startFakeHost(
    {},
    {
      conversations: [{ id: "c1", title, updatedAt: 1 }],
      settings: { ...sampleSnapshot().settings, language },
    },
  );
  await setAutomaticTitle("c1", "  Where to?\nToday.");
  expect(host.requests("rename_conversation")).toEqual(
    isReplaced ? [{ conversation: "c1", title: "Where to?" }] : [],
  );
});

test("a conversation without a text in its first item keeps its title", async () => {
  const conversations = [{ id: "c1", title: "New conversation", updatedAt: 1 }];
  const host = await startFakeHost({}, { conversations });
  await setAutomaticTitle("c1", " \n ");
  await setAutomaticTitle("unknown", "Where to?");
  expect(host.requests("rename_conversation")).toEqual([]);
});
