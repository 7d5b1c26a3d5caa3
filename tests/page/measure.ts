// Measures the page: frames, processor time, memory.
import type { CDPSession, Page } from "@playwright/test";

declare global {
  interface Window {
    /** Recorded durations of frames in milliseconds. */
    frames?: number[];
    countsFrames?: boolean;
  }
}

export interface Frames {
  count: number;
  p99: number;
  longest: number;
  /** Number of frames that took longer than 50 ms. */
  long: number;
}

/** Duration in milliseconds above which a frame counts as long. */
const LONG_FRAME_MS = 50;

/** Runs `act` and returns statistics of the frames in the meantime. */
export async function recordFrames(page: Page, act: () => Promise<void>): Promise<Frames> {
  await page.evaluate(() => {
    const frames: number[] = (window.frames = []);
    window.countsFrames = true;
    let last = performance.now();
    const frame = (now: number) => {
      frames.push(now - last);
      last = now;
      if (window.countsFrames) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  await act();
  const all = await page.evaluate(() => {
    window.countsFrames = false;
    return window.frames ?? [];
  });
  const sorted = all.toSorted((a, b) => a - b);
  const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
  return { count: all.length, p99, longest: sorted.at(-1) ?? 0, long: sorted.filter((f) => f > LONG_FRAME_MS).length };
}

/**
 * Records frames while the page performs a constant load of 10 ms per frame. They show the load that other processes
 * cause.
 */
export function recordReferenceFrames(page: Page): Promise<Frames> {
  return recordFrames(page, () =>
    page.evaluate(async () => {
      const work = (turns: number) => {
        const startedAt = performance.now();
        let sum = 0;
        for (let turn = 0; turn < turns; turn++) sum += Math.sqrt(turn);
        return sum < 0 ? 0 : performance.now() - startedAt;
      };
      const TURNS = 1_000_000;
      const shortest = Math.min(...Array.from({ length: 20 }, () => work(TURNS)));
      const turns = (10 / Math.max(shortest, 0.1)) * TURNS;
      for (let frame = 0; frame < 200; frame++) {
        await new Promise(requestAnimationFrame);
        work(turns);
      }
    }),
  );
}

/**
 * Returns bounds for the 99th percentile of frame durations in milliseconds and for the number of long frames, derived
 * from reference frames.
 */
export function frameBounds(working: Frames, count: number): { p99: number; long: number } {
  return { p99: Math.max(LONG_FRAME_MS, 2 * working.p99), long: Math.ceil((0.01 + (2 * working.long) / working.count) * count) };
}

export function describeFrames({ count, p99, longest, long }: Frames): string {
  return `${count} frames, 99 in 100 within ${p99.toFixed(0)} ms, the longest ${longest.toFixed(0)} ms, ${long} over ${LONG_FRAME_MS} ms`;
}

/** Metrics of the page that Chromium provides. */
export class Meter {
  readonly #session: CDPSession;
  readonly #browser: CDPSession;

  private constructor(session: CDPSession, browser: CDPSession) {
    this.#session = session;
    this.#browser = browser;
  }

  static async of(page: Page): Promise<Meter> {
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    return new Meter(session, await page.context().browser()!.newBrowserCDPSession());
  }

  /** Returns the processor time so far in milliseconds: of the page's whole process, and of its scripts. */
  async time(): Promise<{ all: number; scripts: number }> {
    const metrics = await this.#metrics();
    const { processInfo } = await this.#browser.send("SystemInfo.getProcessInfo");
    const pages = processInfo.filter(({ type }) => type === "renderer");
    const all = pages.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
    return { all: 1000 * all, scripts: 1000 * (metrics.get("ScriptDuration") ?? 0) };
  }

  /** Returns the size of the script heap in bytes and the number of DOM nodes, after garbage collection. */
  async memory(): Promise<{ heap: number; nodes: number }> {
    await this.#session.send("HeapProfiler.collectGarbage");
    const metrics = await this.#metrics();
    return { heap: metrics.get("JSHeapUsedSize") ?? 0, nodes: metrics.get("Nodes") ?? 0 };
  }

  async #metrics(): Promise<Map<string, number>> {
    const { metrics } = await this.#session.send("Performance.getMetrics");
    return new Map(metrics.map(({ name, value }) => [name, value]));
  }
}
