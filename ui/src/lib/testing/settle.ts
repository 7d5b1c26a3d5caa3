// Lets what was begun come to its end, for tests of what does not happen.
import { vi } from "vitest";

/** Runs everything that is ready to run. Needs vitest's fake timers; none that waits for a later time fires. */
export async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}
