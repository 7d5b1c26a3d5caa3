import { beforeEach, expect, test, vi } from "vitest";

import { settle } from "$lib/testing/settle";

import { serializeReads } from "./one-at-a-time";

interface End {
  resolve: () => void;
  reject: (cause: Error) => void;
}

/** Creates a serialized read, and the list of functions that end each run of it. */
function reads() {
  const ends: End[] = [];
  const read = serializeReads(
    () => new Promise<void>((resolve, reject) => ends.push({ resolve, reject })),
  );
  return { ends, read };
}

beforeEach(() => void vi.useFakeTimers());

test("runs once more for requests during a read, and all callers wait for it", async () => {
  const { ends, read } = reads();
  let waiting = 3;
  for (let caller = 0; caller < 3; caller++) void read().then(() => waiting--);
  expect(ends.length, "one at a time").toBe(1);
  ends[0]?.resolve();
  await settle();
  expect(ends.length, "once more, not once for each").toBe(2);
  expect(waiting, "nobody has an answer that may be old").toBe(3);
  ends[1]?.resolve();
  await settle();
  expect([ends.length, waiting], "then it is over").toEqual([2, 0]);
  void read();
  expect(ends.length, "and begins anew").toBe(3);
});

test("reports a failure to the waiting callers, and continues with later reads", async () => {
  const { ends, read } = reads();
  const first = read();
  ends[0]?.reject(new Error("no host"));
  await expect(first, "told").rejects.toThrow("no host");
  void read();
  expect(ends.length, "the next one is read").toBe(2);
});
