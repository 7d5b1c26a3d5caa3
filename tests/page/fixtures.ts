// Fixtures of the page tests: a separate host with the demo server for each test, and the page opened on it.
import { test as base, expect, type Locator, type Page } from "@playwright/test";
import axe, { type RunOptions } from "axe-core";

import { DEMO, DevHost, type Setup } from "./dev-host";
import { recordFaults } from "./faults";

export { expect } from "@playwright/test";
export { DEMO, type DevHost } from "./dev-host";

export const LEGACY: Setup = {
  servers: { harbour: { command: DEMO, args: ["--era", "legacy"] } },
  running: ["harbour"],
  theme: "light",
  language: "en",
};
export const MODERN: Setup = {
  ...LEGACY,
  servers: { harbour: { command: DEMO, args: ["--era", "modern"] } },
};
/** Servers of both protocol generations, stateful and stateless. Consent requests are the same for both. */
export const ERAS = [
  ["legacy", LEGACY],
  ["modern", MODERN],
] as const;
export const FIRST_START: Setup = { servers: null, running: [], theme: "light", language: "en" };

interface Fixtures {
  setup: Setup;
  /**
   * Unset for apps whose attempts cause errors in nested frames and workers, which the browser attributes to the page.
   */
  checksFaults: boolean;
  host: DevHost;
  app: Page;
}

export const test = base.extend<Fixtures>({
  setup: [LEGACY, { option: true }],
  checksFaults: [true, { option: true }],
  host: async ({ setup }, use) => {
    const host = await DevHost.start(setup);
    await use(host);
    await host.stop();
  },
  app: async ({ page, host, checksFaults }, use, test) => {
    const faults = recordFaults(page);
    // The window does the same before any script of the page runs, but not in frames.
    await page.addInitScript("if (window === window.top) Object.freeze(Object.prototype)");
    await page.goto(host.url);
    await expect(page.getByRole("banner"), "the page should show its title bar").toBeVisible();
    await use(page);
    // After a failure the page may be in any state.
    if (test.status !== test.expectedStatus || !checksFaults) return;
    expect(faults, "the page should throw no exceptions and log no errors").toEqual([]);
  },
});

/** Opens a view by the hash of its URL. */
export async function visit(app: Page, hash: string): Promise<void> {
  await app.evaluate((to) => (location.hash = to), hash);
}

export function consentRequest(app: Page): Locator {
  // The dialog of the previous request may still be closing.
  return app.locator("[data-testid=consent-request]:not([data-state=closed])");
}

/** Returns the axe violations of the current page, one line each. Frames of apps are not checked. */
export async function axeViolations(app: Page, options: RunOptions = {}): Promise<string[]> {
  // The page stays loaded from view to view, so axe is parsed once.
  const isLoaded = await app.evaluate(() => typeof (window as { axe?: { run?: unknown } }).axe?.run === "function");
  if (!isLoaded) await app.evaluate(axe.source);
  return app.evaluate(async (options) => {
    const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(document, options);
    return violations.map(
      ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`,
    );
  }, { resultTypes: ["violations"], iframes: false, ...options } satisfies RunOptions);
}

/** Expands the definition of an unreviewed tool if it is folded. */
export async function readDefinition(app: Page): Promise<void> {
  const definition = consentRequest(app).getByRole("button", { name: "Show all of the definition" });
  if (await definition.isVisible()) await definition.click();
}

/** Views the remaining parts of a frame page by page until `armed` is enabled. Returns the number of pages. */
export async function readRest(app: Page, armed: Locator, frame = consentRequest(app)): Promise<number> {
  // A click further down may have skipped parts above.
  const rest = frame.getByRole("button", { name: /^More (above|below)/ });
  let pages = 0;
  // An expanded part is only below once it is drawn.
  await expect(async () => {
    if (await rest.isVisible()) {
      await rest.click({ timeout: 1_000 });
      pages += 1;
      await app.mouse.move(1, 1);
    }
    await expect(armed, "the request should be armed once its content was viewed").toHaveAttribute("aria-disabled", "false", {
      timeout: 300,
    });
  }).toPass({ timeout: 30_000, intervals: [50] });
  return pages;
}

/** Clicks an approving button, or an entry of the menu next to it, once it is armed. */
export async function allow(app: Page, name: string): Promise<void> {
  const frame = consentRequest(app);
  await expect(frame).toBeVisible();
  await readDefinition(app);
  // A click is ignored if the pointer rested where the button appears.
  await app.mouse.move(1, 1);
  const armed = frame.getByRole("button", { name: /^(Allow|Let|Ask|Answer|Send|Accept|Open|Share|Always)/ }).first();
  await readRest(app, armed);
  const button = frame.getByRole("button", { name, exact: true });
  if (await button.isVisible()) return button.click();
  await frame.getByRole("button", { name: "More ways to allow" }).click();
  await app.getByRole("menuitem", { name, exact: true }).click();
}

/** Waits until a denial is accepted. Denials are delayed, because keys may be meant for another element. */
export async function waitUntilDeniable(app: Page): Promise<void> {
  const deny = consentRequest(app).getByRole("button", { name: /^(Deny|Decline)$/ });
  await expect(deny, "a denial should be possible after a moment without input").toHaveAttribute("aria-disabled", "false");
}

/** Opens a tool of the server and calls it with the default arguments of the form. */
export async function callTool(app: Page, tool: string): Promise<void> {
  await visit(app, `#/server/harbour/tools/${tool}`);
  await app.getByRole("button", { name: "Call", exact: true }).click();
}

/** Repeats the last call of a tool, which the user approved a moment ago. */
export async function callToolAgain(app: Page, tool: string): Promise<void> {
  await visit(app, `#/server/harbour/tools/${tool}`);
  const again = app.getByRole("button", { name: "Call again", exact: true });
  await expect(again, "the button should be armed after a moment").not.toHaveAttribute("aria-disabled", "true");
  await again.click();
}
