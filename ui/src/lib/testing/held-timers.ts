// Timers that a test holds, so that what is delayed can be checked however slow the machine is.
import { onTestFinished, vi } from "vitest";

type Callback = () => void;

/**
 * Holds the timers with exactly this delay in milliseconds until `release` is called. All other timers run as usual, as
 * queries of Testing Library wait with them.
 */
export function holdTimers(delay: number): { release: () => void } {
  const held = new Map<unknown, Callback>();
  const start = globalThis.setTimeout;
  const clear = globalThis.clearTimeout;
  const setSpy = vi
    .spyOn(globalThis, "setTimeout")
    .mockImplementation((run: Callback, wait?: number) => {
      if (wait !== delay) return start(run, wait);
      // Only its identity is used.
      const id = start(() => {}, 0);
      held.set(id, run);
      return id;
    });
  const clearSpy = vi
    .spyOn(globalThis, "clearTimeout")
    .mockImplementation((id?: Parameters<typeof clearTimeout>[0]) => {
      held.delete(id);
      clear(id);
    });
  onTestFinished(() => {
    setSpy.mockRestore();
    clearSpy.mockRestore();
  });
  return {
    release() {
      if (held.size === 0) throw new Error(`no timer of ${delay} ms was started`);
      const due = [...held.values()];
      held.clear();
      for (const run of due) run();
    },
  };
}
