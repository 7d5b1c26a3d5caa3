// Every view and consent request in light, dark, Chinese, small and large: screenshots for people (in
// target/screenshots/page), and automatic checks by axe and for overflow.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { axeViolations, DEMO, expect, LEGACY, test as base } from "./fixtures";
import { Registry } from "./registry.mjs";
import { Requests, stableScreenshot } from "./waiting";
import { visitViews } from "./visit-views";
import { NEWER_AND_OLD, visitInstalls } from "./visit-installs";

const PICTURES = resolve(__dirname, "../../target/screenshots/page");
const SETUP = {
  ...LEGACY,
  servers: {
    harbour: { command: DEMO, args: ["--era", "legacy"] },
    missing: { command: "no-such-program-7461" },
    second: {
      command: DEMO,
      args: ["--era", "modern"],
      env: { HARBOUR_TOKEN: "secret" },
      cwd: "/tmp",
    },
  },
};
/** Rules of axe that judge drawn colors. */
const COLOR_RULES = ["color-contrast", "color-contrast-enhanced", "link-in-text-block"];
/** All rules, only those of colors, or all others. Forced colors are the user's choice. */
type Rules = "all" | "colors" | "structure" | "none";
// Structure doesn't depend on the colors, and colors don't depend on the size or the language, so each look only repeats
// the rules whose results it can change.
const LOOKS = [
  { name: "light", look: {}, size: { width: 1180, height: 780 }, rules: "all" as Rules },
  { name: "dark", look: { theme: "dark" as const }, size: { width: 1180, height: 780 }, rules: "colors" as Rules },
  { name: "chinese", look: { language: "zh" as const }, size: { width: 1180, height: 780 }, rules: "structure" as Rules },
  { name: "small", look: {}, size: { width: 800, height: 600 }, rules: "structure" as Rules },
  { name: "large", look: {}, size: { width: 2560, height: 1440 }, rules: "structure" as Rules },
  // A window of 1280 by 860 at 200 %.
  { name: "E11-zoomed", look: {}, size: { width: 640, height: 430 }, rules: "structure" as Rules },
  { name: "contrast", look: {}, size: { width: 1180, height: 780 }, rules: "colors" as Rules, contrast: "more" as const },
  {
    name: "contrast-dark",
    look: { theme: "dark" as const },
    size: { width: 1180, height: 780 },
    rules: "colors" as Rules,
    contrast: "more" as const,
  },
  {
    name: "forced-colors",
    look: {},
    size: { width: 1180, height: 780 },
    rules: "none" as Rules,
    forcedColors: "active" as const,
  },
];

/** Returns axe options for these rules. Enhanced contrast is only required if the user prefers more contrast. */
function axeOptions(rules: Exclude<Rules, "none">, moreContrast: boolean) {
  const enhanced = { "color-contrast-enhanced": { enabled: moreContrast } };
  if (rules === "colors") {
    const values = COLOR_RULES.filter((rule) => moreContrast || rule !== "color-contrast-enhanced");
    return { runOnly: { type: "rule" as const, values } };
  }
  if (rules === "all") return { rules: enhanced };
  return { rules: Object.fromEntries(COLOR_RULES.map((rule) => [rule, { enabled: false }])) };
}

interface Looks {
  look: { theme?: "dark"; language?: "zh" };
  registry: Registry;
}

const test = base.extend<Looks>({
  look: [{}, { option: true }],
  registry: async ({}, use) => {
    const registry = await Registry.start([...NEWER_AND_OLD]);
    await use(registry);
    await registry.stop();
  },
  setup: async ({ look, registry }, use) => {
    await use({ ...SETUP, ...look, registry: registry.url });
  },
});

// By far the longest tests. Each has a separate page and host.
test.describe.configure({ mode: "parallel" });

for (const { name, look, size, rules, contrast, forcedColors } of LOOKS) {
  test.describe(name, () => {
    test.use({ look, viewport: size, contextOptions: { contrast, forcedColors, reducedMotion: "reduce" } });
    test.setTimeout(240_000);

    test("every view and consent request has no axe violations, and nothing is cut off", async ({ app, host }) => {
      const folder = join(PICTURES, name);
      mkdirSync(folder, { recursive: true });
      const problems: string[] = [];
      const requests = new Requests(app);
      const onView = async (view: string) => {
        await requests.settled();
        writeFileSync(join(folder, `${view}.png`), await stableScreenshot(app));
        if (rules !== "none") {
          const found = await axeViolations(app, axeOptions(rules, contrast === "more"));
          problems.push(...found.map((violation) => `${view}: ${violation}`));
        }
        const moving = await app.evaluate(() => document.getAnimations().filter(({ playState }) => playState === "running").length);
        if (moving > 0) problems.push(`${view}: moves, though motion is reduced`);
        const wider = await app.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (wider > 0) problems.push(`${view}: ${wider} pixels wider than the window`);
        // Content outside of the scrollable areas would let the focus scroll the whole page.
        const taller = await app.evaluate(() => document.documentElement.scrollHeight - innerHeight);
        if (taller > 0) problems.push(`${view}: ${taller} pixels taller than the window`);
      };
      await visitViews(app, host, onView);
      await visitInstalls(app, host, onView);
      expect(problems, "every view is accessible and fits").toEqual([]);
    });
  });
}
