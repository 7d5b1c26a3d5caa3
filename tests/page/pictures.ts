// Screenshots for people, in target/screenshots/page. Only taken with SCREENSHOTS=1, because encoding them takes much of
// the time of the tests that visit every view.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

import type { Page } from "@playwright/test";

import { stableScreenshot } from "./waiting";

const FOLDER = resolve(__dirname, "../../target/screenshots/page");
const TAKES_PICTURES = process.env.SCREENSHOTS === "1";

/** Saves a screenshot once the page stands still. `name` is a path below the folder of the screenshots. */
export async function savePicture(page: Page, name: string): Promise<void> {
  if (!TAKES_PICTURES) return;
  const path = resolve(FOLDER, `${name}.png`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, await stableScreenshot(page));
}
