// Lets pending work finish, for tests that nothing happens.
import { vi } from "vitest";

/**
 * Runs all pending microtasks and due timers. Requires vitest's fake timers. Does not advance the time, so later timers
 * do not fire.
 */
export async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}
