// Conditions to wait for instead of a duration: a frame was drawn, or no request is pending.
import { expect, type Page, type Request } from "@playwright/test";

/** Waits until the page has painted its current state. */
export async function nextFrame(page: Page): Promise<void> {
  // The second animation frame starts after the first was painted.
  await page.evaluate(() => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next))));
}

/** Tracks the pending requests of a page, except the WebSocket of the events. */
export class Requests {
  readonly #page: Page;
  readonly #open = new Set<Request>();
  #startedCount = 0;

  constructor(page: Page) {
    this.#page = page;
    page.on("request", (request) => {
      this.#startedCount += 1;
      this.#open.add(request);
    });
    page.on("requestfinished", (request) => this.#open.delete(request));
    page.on("requestfailed", (request) => this.#open.delete(request));
  }

  /** Waits until no request is pending, and rendering the last responses has caused no further one. */
  async settled(): Promise<void> {
    const quiet = async () => {
      const before = this.#startedCount;
      await nextFrame(this.#page);
      return this.#open.size === 0 && this.#startedCount === before;
    };
    await expect.poll(quiet, "no request should be pending").toBe(true);
  }
}

/** Waits until all visible pictures are decoded. */
export async function decodedPictures(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const inView = [...document.images].filter((image) => image.complete || image.loading !== "lazy");
    // A picture that can't be decoded is shown as broken.
    await Promise.all(inView.map((image) => image.decode().catch(() => undefined)));
  });
}

/** Waits until all visible pictures are decoded and two consecutive screenshots are equal. Returns the screenshot. */
export async function stableScreenshot(page: Page): Promise<Buffer> {
  await decodedPictures(page);
  let last = await page.screenshot();
  await expect(async () => {
    const next = await page.screenshot();
    const isStill = next.equals(last);
    last = next;
    expect(isStill, "consecutive screenshots should be equal").toBe(true);
  }).toPass({ timeout: 10_000, intervals: [0] });
  return last;
}
