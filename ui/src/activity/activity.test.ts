import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import type { ActivityEntry, ActivityKind } from "$lib/api/generated";
import { startFakeHost, type FakeHost } from "$lib/testing/fake-host";
import { fastestRunMs } from "$lib/testing/fastest";

import { ActivityLog, MAX_ENTRIES, READ_DELAY_MS } from "./log.svelte";
import { activityLogOf, MAX_ACTIVITY_LOGS } from "./logs";
import {
  countGroups,
  ACTIVITY_GROUPS,
  rowKey,
  activityRows,
  entrySummary,
  type ActivityGroup,
} from "./rows";

function entry(seq: number, changes: Partial<ActivityEntry> = {}): ActivityEntry {
  return {
    ...{ seq, at: 1_700_000_000_000 + seq, kind: "request", sent: true, method: "tools/call" },
    ...{ id: String(seq), bytes: 100, latency: null, preview: "{}", note: null },
    ...changes,
  };
}

/**
 * Returns a fake handler of the command `read_activity`. The log has `last()` entries, of which the host retains the
 * latest `retained`.
 */
function entriesUpTo(last: () => number, retained = 2000) {
  return ({ after, limit }: { after: number | null; limit: number }) => {
    const first = Math.max((after ?? 0) + 1, last() - retained + 1, last() - limit + 1);
    const entries = Array.from({ length: Math.max(0, last() - first + 1) }, (_, i) =>
      entry(first + i),
    );
    return { entries, dropped: Math.max(0, last() - retained) };
  };
}

let host: FakeHost;
let last: number;
beforeEach(async () => {
  vi.useFakeTimers();
  last = 3;
  host = await startFakeHost({ read_activity: entriesUpTo(() => last) });
});
let stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops) stop();
  stops = [];
  vi.useRealTimers();
});

function watched(): ActivityLog {
  const log = new ActivityLog("s");
  stops.push(log.watch());
  return log;
}

const append = (to: number) => {
  last = to;
  host.send({ type: "activity_appended", server: "s", last });
};
const seqs = (log: ActivityLog) => log.entries.map((one) => one.seq);

describe("following a server's activity", () => {
  test("reads all entries once, then appended ones in batches", async () => {
    const log = new ActivityLog("s");
    const stop = log.watch();
    await vi.runAllTimersAsync();
    expect([log.ready, seqs(log)], "the first page should be read").toEqual([true, [1, 2, 3]]);
    for (const to of [4, 5, 6]) append(to);
    await vi.advanceTimersByTimeAsync(READ_DELAY_MS);
    expect(seqs(log), "the appended entries should be read").toEqual([1, 2, 3, 4, 5, 6]);
    expect(
      host.requests("read_activity").map((request) => request.after),
      "appended entries should be read together",
    ).toEqual([null, 3]);
    host.send({ type: "activity_appended", server: "another", last: 99 });
    await vi.runAllTimersAsync();
    expect(
      host.requests("read_activity"),
      "an event of another server should be ignored",
    ).toHaveLength(2);
    stop();
    append(7);
    await vi.runAllTimersAsync();
    expect(
      host.requests("read_activity"),
      "nothing should be read while nobody watches",
    ).toHaveLength(2);
    stops.push(log.watch());
    await vi.runAllTimersAsync();
    expect(seqs(log).at(-1), "the log should catch up when it is watched again").toBe(7);
  });

  test("reads entries that are appended during a read afterwards, without duplicates", async () => {
    const answers: (() => void)[] = [];
    const read = entriesUpTo(() => last);
    host.answers.read_activity = (request) => {
      const page = read(request);
      return new Promise((resolve) => answers.push(() => resolve(page)));
    };
    const log = watched();
    append(4);
    append(5);
    await vi.advanceTimersByTimeAsync(READ_DELAY_MS);
    expect(answers.length, "one read should run at a time").toBe(1);
    answers[0]?.();
    await vi.advanceTimersByTimeAsync(READ_DELAY_MS);
    expect(seqs(log), "the entries of the first read should be shown").toEqual([1, 2, 3]);
    append(6);
    answers[1]?.();
    await vi.advanceTimersByTimeAsync(READ_DELAY_MS);
    answers[2]?.();
    await vi.advanceTimersByTimeAsync(READ_DELAY_MS);
    expect(seqs(log), "each entry should be listed once").toEqual([1, 2, 3, 4, 5, 6]);
    expect(answers.length, "no additional read should be made").toBe(3);
  });

  test("reads a flood once per pause, in bounded memory", async () => {
    const log = watched();
    await vi.runAllTimersAsync();
    for (let to = 10; to <= 9000; to += 10) append(to);
    await vi.advanceTimersByTimeAsync(READ_DELAY_MS);
    expect(host.requests("read_activity"), "one read should cover 900 events").toHaveLength(2);
    expect(seqs(log).at(-1), "the latest entry should be read").toBe(9000);
    for (let round = 0; round < 4; round += 1) {
      append(last + 1500);
      await vi.advanceTimersByTimeAsync(READ_DELAY_MS);
    }
    expect(log.entries.length, "the number of entries should be bounded").toBe(MAX_ENTRIES);
  });

  test("reports a failed read, and continues with the next one", async () => {
    const read = host.answers.read_activity;
    host.answers.read_activity = () => Promise.reject({ code: "not_found", message: "gone" });
    const log = watched();
    await vi.runAllTimersAsync();
    expect([log.error?.code, log.ready], "the error should be reported").toEqual([
      "not_found",
      false,
    ]);
    host.answers.read_activity = read;
    await log.read();
    expect([log.error, seqs(log)], "the error should be cleared by the next read").toEqual([
      null,
      [1, 2, 3],
    ]);
  });

  test("ignores an event that arrives after its entry was read", async () => {
    const log = watched();
    await vi.runAllTimersAsync();
    host.send({ type: "activity_appended", server: "s", last: 1 });
    await vi.runAllTimersAsync();
    expect(
      [seqs(log), host.requests("read_activity").length],
      "no read should be made for known entries",
    ).toEqual([[1, 2, 3], 1]);
  });

  test("starts over when a removed server is added again", () => {
    const log = activityLogOf("s");
    host.send({ type: "server_removed", name: "s" });
    expect(activityLogOf("s"), "a new log should be created for the same name").not.toBe(log);
  });

  test("bounds the number of retained logs", () => {
    const first = activityLogOf("log 0");
    expect(activityLogOf("log 0"), "a retained log should be reused").toBe(first);
    for (let i = 1; i <= MAX_ACTIVITY_LOGS; i += 1) activityLogOf(`log ${i}`);
    expect(activityLogOf("log 0"), "a dropped log should be created again").not.toBe(first);
  });
});

describe("activity rows", () => {
  const all = new Set(ACTIVITY_GROUPS);
  const kinds: ActivityKind[] = [
    ...(["request", "response", "error", "notification", "batch"] as const),
    ...(["log", "stderr", "state", "invalid"] as const),
  ];
  const entries = kinds.map((kind, i) =>
    entry(i + 1, {
      kind,
      method: kind === "stderr" ? null : `m/${kind}`,
      preview: `preview ${kind}`,
    }),
  );

  test.each<[ActivityGroup, string[]]>([
    ["messages", ["1", "2", "3", "4", "5"]],
    ["log", ["6"]],
    ["stderr", ["7"]],
    ["state", ["8"]],
    ["invalid", ["9"]],
  ])("the group %s", (group, keys) => {
    expect(
      activityRows(entries, new Set([group]), "").map(rowKey),
      "the group should contain its kinds",
    ).toEqual(keys);
    expect(countGroups(entries)[group], "the entries of the group should be counted").toBe(
      keys.length,
    );
  });

  test("search matches the method, id, excerpt and note", () => {
    const some = [
      entry(1, { id: '"abc"' }),
      entry(2, { note: "Wrong ID" }),
      entry(3, { preview: "ÜBER" }),
    ];
    const found = (query: string) => activityRows(some, all, query).map(rowKey);
    expect(found("ABC"), "the id should match").toEqual(["1"]);
    expect(found("wrong id"), "the note should match").toEqual(["2"]);
    expect(found("über"), "the beginning of the message should match").toEqual(["3"]);
    expect(found(" tools/ "), "the method should match").toEqual(["1", "2", "3"]);
    expect(found("nothing of it"), "an unrelated text should match nothing").toEqual([]);
  });

  test("mark missing entries independent of the filter", () => {
    const some = [entry(5), entry(6, { kind: "stderr" }), entry(9)];
    expect(
      activityRows(some, new Set<ActivityGroup>(["messages"]), ""),
      "gaps should be marked at the start and between entries",
    ).toEqual([
      { is: "gap", before: 5, count: 4 },
      { is: "entry", entry: some[0] },
      { is: "gap", before: 9, count: 2 },
      { is: "entry", entry: some[2] },
    ]);
  });

  test("show an excerpt of output that is not a message", () => {
    expect(entrySummary(entry(1)), "a message should be summarized by its method").toBe(
      "tools/call",
    );
    const logged = entry(1, { kind: "log", method: "info · sea", preview: "A gull." });
    expect(entrySummary(logged), "a log message should be summarized by its text").toBe(
      "info · sea  A gull.",
    );
    expect(
      entrySummary(entry(1, { method: null, preview: "Listening..." })),
      "other output should be summarized by its excerpt",
    ).toBe("Listening...");
  });

  test("filter and search 5,000 entries without delay", () => {
    const many = Array.from({ length: 5000 }, (_, i) => entry(i + 1, { preview: "x".repeat(200) }));
    const duration = fastestRunMs(() => activityRows(many, all, "no such words"));
    expect(duration, "filtering should take less than 100 ms").toBeLessThan(100);
  });
});
