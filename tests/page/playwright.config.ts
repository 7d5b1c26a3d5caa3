// Runs the page in Chromium with the development host.
import { existsSync } from "node:fs";

import { defineConfig } from "@playwright/test";

// Debian's headless shell if it is installed, else the one of Playwright. Both are faster than a full Chromium.
const DEBIAN = "/usr/bin/chromium-headless-shell";
const chromium = process.env.CHROMIUM || (existsSync(DEBIAN) ? DEBIAN : undefined);
/** Tests that measure frames and processor time, and therefore run alone. */
const MEASURED = ["long.spec.ts", "streaming.spec.ts"];
/** Tests that download servers, and compare their apps with a table. */
const EXAMPLES = "apps-matrix.spec.ts";

export default defineConfig({
  testDir: ".",
  // Artifacts are stored with all other build results.
  outputDir: "../../target/page-tests",
  // A test has separate hosts, servers, folders and ports, and mostly waits: `--project page --workers 2` runs two at
  // a time. Measurements run alone.
  workers: 1,
  fullyParallel: false,
  projects: [
    { name: "page", testIgnore: [...MEASURED, EXAMPLES] },
    { name: "examples", testMatch: EXAMPLES, outputDir: "../../target/page-tests/examples" },
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
        // Chromium ignores the policy directive that keeps apps from WebRTC, which WebKitGTK does not have.
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
      ],
    },
  },
});
