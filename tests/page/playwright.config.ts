// The page in Chromium, with the development host behind it.
import { existsSync } from "node:fs";

import { defineConfig } from "@playwright/test";

// Debian's Chromium where it is; elsewhere the one that Playwright installed.
const DEBIAN = "/usr/bin/chromium";
const chromium = process.env.CHROMIUM || (existsSync(DEBIAN) ? DEBIAN : undefined);
/** They count frames and processor time. */
const MEASURED = ["long.spec.ts", "streaming.spec.ts"];

export default defineConfig({
  testDir: ".",
  // What they leave behind lies with all other build results.
  outputDir: "../../target/page-tests",
  // A test has a host, servers, folders and ports of its own, and waits more than it works: `--project page --workers 2` runs
  // two at a time. What is measured has the machine to itself.
  workers: 1,
  fullyParallel: false,
  projects: [
    { name: "page", testIgnore: MEASURED },
    { name: "measured", testMatch: MEASURED, outputDir: "../../target/page-tests/measured" },
  ],
  timeout: 60_000,
  expect: { timeout: 10_000 },
  forbidOnly: true,
  reporter: [["list"]],
  use: {
    viewport: { width: 1180, height: 780 },
    locale: "en-GB",
    colorScheme: "light",
    reducedMotion: "reduce",
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: chromium,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
});
