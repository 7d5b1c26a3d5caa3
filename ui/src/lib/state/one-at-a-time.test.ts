import { beforeEach, expect, test, vi } from "vitest";

import { settle } from "$lib/testing/settle";

import { oneAtATime } from "./one-at-a-time";

interface End {
  resolve: () => void;
  reject: (cause: Error) => void;
}

/** Reads that end when they are told to. */
function reads() {
  const ends: End[] = [];
  const read = oneAtATime(
    () => new Promise<void>((resolve, reject) => ends.push({ resolve, reject })),
  );
  return { ends, read };
}

beforeEach(() => void vi.useFakeTimers());

test("what is asked for while it is read is read once more, and all wait for that", async () => {
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

test("a read that fails is told to who waits, and does not stop later ones", async () => {
  const { ends, read } = reads();
  const first = read();
  ends[0]?.reject(new Error("no host"));
  await expect(first, "told").rejects.toThrow("no host");
  void read();
  expect(ends.length, "the next one is read").toBe(2);
});
