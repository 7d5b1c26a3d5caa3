// Every view and consent request in light, dark, Chinese, small and large: automatic checks by axe and for overflow, and
// screenshots for people.
import { axeViolations, DEMO, expect, LEGACY, test as base } from "./fixtures";
import { savePicture } from "./pictures";
import { Registry } from "./registry.mjs";
import { decodedPictures, nextFrame, Requests } from "./waiting";
import { visitViews } from "./visit-views";
import { NEWER_AND_OLD, visitInstalls } from "./visit-installs";

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
/** Preferences of the system that only change colors, with the name of their screenshots. */
interface Media {
  name: string;
  rules: Rules;
  contrast?: "more";
  forcedColors?: "active";
}
const MEDIUM = { width: 1180, height: 780 };
const DARK = { theme: "dark" as const };
const CHINESE = { language: "zh" as const };
const structureOnly = (name: string): Media[] => [{ name, rules: "structure" }];
// Each visit takes half a minute, so looks that only differ in the preferences of the system share one. Structure
// doesn't depend on the colors, and colors don't depend on the size or the language, so each look only repeats the rules
// whose results it can change.
const VISITS: { name: string; look: Looks["look"]; size: typeof MEDIUM; media: Media[] }[] = [
  {
    name: "light",
    look: {},
    size: MEDIUM,
    media: [
      { name: "light", rules: "all" },
      { name: "contrast", rules: "colors", contrast: "more" },
      { name: "forced-colors", rules: "none", forcedColors: "active" },
    ],
  },
  {
    name: "dark",
    look: DARK,
    size: MEDIUM,
    media: [
      { name: "dark", rules: "colors" },
      { name: "contrast-dark", rules: "colors", contrast: "more" },
    ],
  },
  { name: "chinese", look: CHINESE, size: MEDIUM, media: structureOnly("chinese") },
  { name: "small", look: {}, size: { width: 800, height: 600 }, media: structureOnly("small") },
  { name: "large", look: {}, size: { width: 2560, height: 1440 }, media: structureOnly("large") },
  // A window of 1280 by 860 at 200 %.
  { name: "E11-zoomed", look: {}, size: { width: 640, height: 430 }, media: structureOnly("E11-zoomed") },
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

for (const { name, look, size, media } of VISITS) {
  test.describe(name, () => {
    test.use({ look, viewport: size, contextOptions: { reducedMotion: "reduce" } });
    test.setTimeout(240_000);

    test("every view and consent request has no axe violations, and nothing is cut off", async ({ app, host }) => {
      const problems: string[] = [];
      const requests = new Requests(app);
      const onView = async (view: string) => {
        await requests.settled();
        await decodedPictures(app);
        for (const { name, rules, contrast = "no-preference", forcedColors = "none" } of media) {
          if (media.length > 1) await app.emulateMedia({ contrast, forcedColors });
          const problem = (text: string) => problems.push(`${view}, ${name}: ${text}`);
          await nextFrame(app);
          await savePicture(app, `${name}/${view}`);
          if (rules !== "none") (await axeViolations(app, axeOptions(rules, contrast === "more"))).forEach(problem);
          const { moving, wider, taller } = await app.evaluate(() => ({
            moving: document.getAnimations().filter(({ playState }) => playState === "running").length,
            wider: document.documentElement.scrollWidth - innerWidth,
            // Content outside of the scrollable areas would let the focus scroll the whole page.
            taller: document.documentElement.scrollHeight - innerHeight,
          }));
          if (moving > 0) problem("moves, though motion is reduced");
          if (wider > 0) problem(`${wider} pixels wider than the window`);
          if (taller > 0) problem(`${taller} pixels taller than the window`);
        }
      };
      await visitViews(app, host, onView);
      await visitInstalls(app, host, onView);
      expect(problems, "every view should be accessible and fit into the window").toEqual([]);
    });
  });
}
