// Points in time that a test can wait for instead of a while: a frame was drawn, or nothing is fetched any more.
import { expect, type Page, type Request } from "@playwright/test";

/** Waits until the page has drawn its current state. */
export async function drawn(page: Page): Promise<void> {
  // The second frame begins after the first was drawn.
  await page.evaluate(() => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next))));
}

/** The requests of a page, from its creation on. The WebSocket of the events is not among them. */
export class Requests {
  readonly #page: Page;
  readonly #open = new Set<Request>();
  #begun = 0;

  constructor(page: Page) {
    this.#page = page;
    page.on("request", (request) => {
      this.#begun += 1;
      this.#open.add(request);
    });
    page.on("requestfinished", (request) => this.#open.delete(request));
    page.on("requestfailed", (request) => this.#open.delete(request));
  }

  /** Waits until every request is over, and drawing what they brought has led to no other one. */
  async settled(): Promise<void> {
    const quiet = async () => {
      const before = this.#begun;
      await drawn(this.#page);
      return this.#open.size === 0 && this.#begun === before;
    };
    await expect.poll(quiet, "nothing is fetched any more").toBe(true);
  }
}

/** Waits until all pictures of the page can be drawn, and two pictures of its window in a row are the same. Returns the picture. */
export async function stillPicture(page: Page): Promise<Buffer> {
  await page.evaluate(async () => {
    const inView = [...document.images].filter((image) => image.complete || image.loading !== "lazy");
    // A picture that can't be decoded is shown as such.
    await Promise.all(inView.map((image) => image.decode().catch(() => undefined)));
  });
  let last = await page.screenshot();
  await expect(async () => {
    const next = await page.screenshot();
    const isStill = next.equals(last);
    last = next;
    expect(isStill, "the window stands still").toBe(true);
  }).toPass({ timeout: 10_000, intervals: [0] });
  return last;
}
