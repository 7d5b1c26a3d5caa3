import { beforeEach, expect, test, vi } from "vitest";

import { settle } from "$lib/testing/settle";

import { serializeReads } from "./one-at-a-time";

interface ReadEnd {
  resolve: () => void;
  reject: (cause: Error) => void;
}

/** Creates a serialized read, and the list of functions that end each run of it. */
function createSerializedRead() {
  const ends: ReadEnd[] = [];
  const read = serializeReads(
    () => new Promise<void>((resolve, reject) => ends.push({ resolve, reject })),
  );
  return { ends, read };
}

beforeEach(() => void vi.useFakeTimers());

test("runs once more for requests during a read, and all callers wait for it", async () => {
  const { ends, read } = createSerializedRead();
  let waiting = 3;
  for (let caller = 0; caller < 3; caller++) void read().then(() => waiting--);
  expect(ends.length, "one read should run at a time").toBe(1);
  ends[0]?.resolve();
  await settle();
  expect(ends.length, "one more read should run for all requests").toBe(2);
  expect(waiting, "no caller should receive an outdated response").toBe(3);
  ends[1]?.resolve();
  await settle();
  expect([ends.length, waiting], "all callers should have received a response").toEqual([2, 0]);
  void read();
  expect(ends.length, "a later request should start another read").toBe(3);
});

test("reports a failure to the waiting callers, and continues with later reads", async () => {
  const { ends, read } = createSerializedRead();
  const first = read();
  ends[0]?.reject(new Error("no host"));
  await expect(first, "the error should be reported").rejects.toThrow("no host");
  void read();
  expect(ends.length, "the next read should be started").toBe(2);
});
