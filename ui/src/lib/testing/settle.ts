// Lets pending work finish, for tests that nothing happens.
import { vi } from "vitest";

/** Runs all ready microtasks and timers. Requires vitest's fake timers. Timers that are set for later do not fire. */
export async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}
