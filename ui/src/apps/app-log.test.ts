import { expect, test } from "vitest";

import { AppLog, MAX_ENTRIES, MAX_ENTRY_LENGTH } from "./app-log.svelte";

test("the log retains the last entries in order", () => {
  const log = new AppLog();
  const numbers = () => log.entries.map(({ number }) => number);
  log.addLogged("info", "first");
  log.addLogged("info", "second");
  expect(numbers()).toEqual([1, 2]);
  for (let at = 0; at < MAX_ENTRIES; at += 1) log.addLogged("info", `${at}`);
  expect(numbers()).toEqual(Array.from({ length: MAX_ENTRIES }, (_, at) => at + 3));
  expect(log.entries.map(({ text }) => text)).toEqual(
    Array.from({ length: MAX_ENTRIES }, (_, at) => `${at}`),
  );
});

test("each dropped message is an entry and counts as a fault, also once the log is full", () => {
  const log = new AppLog();
  for (let at = 0; at < MAX_ENTRIES + 10; at += 1) log.addDropped("too many messages are queued");
  expect(log.faults).toBe(MAX_ENTRIES + 10);
  expect(log.entries.at(-1)).toMatchObject({ number: MAX_ENTRIES + 10, kind: "dropped" });
});

test("long texts are truncated", () => {
  const log = new AppLog();
  const text = `"\n${"x".repeat(MAX_ENTRY_LENGTH)}`;
  log.addMessage("from_page", { method: "a" }, text);
  expect(log.entries).toMatchObject([{ name: "a", text: text.slice(0, MAX_ENTRY_LENGTH), cut: 2 }]);
});
