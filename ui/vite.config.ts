import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { paraglideVitePlugin } from "@inlang/paraglide-js";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { svelteTesting } from "@testing-library/svelte/vite";
import { defineConfig } from "vitest/config";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// The page can also be served by the development host, which then handles commands and events.
const devHost = process.env.DRAWBRIDGE_DEV_HOST ?? "http://127.0.0.1:1430";

// The development server applies the content security policy of the app. It permits more only for live reload: styles
// with this nonce, connections to the development server, which also proxies the host, and frames of apps.
const NONCE = "live-reload";
const config = readFileSync(at("../src-tauri/tauri.conf.json"), "utf8");
const { csp } = (JSON.parse(config) as { app: { security: { csp: Record<string, string> } } }).app
  .security;
const more: Record<string, string> = {
  "style-src": `'nonce-${NONCE}'`,
  "connect-src": "'self' ws://localhost:1420",
  // The development host serves apps from names below `localhost`.
  "frame-src": "http://*.localhost:1430",
};
const rules = Object.entries(csp).map(([name, sources]) =>
  `${name} ${sources} ${more[name] ?? ""}`.trim(),
);

// A build has a module for each message, so that each chunk loads only its own. Development and tests have one for
// each language (see `npm run messages`), because two thousand files are slow to read.
const BUILT_MESSAGES = "node_modules/.paraglide";
const messages = (command: "build" | "serve") =>
  paraglideVitePlugin({
    project: "./project.inlang",
    outdir: command === "build" ? BUILT_MESSAGES : "src/paraglide",
    outputStructure: command === "build" ? "message-modules" : "locale-modules",
    strategy: ["baseLocale"],
    disableAsyncLocalStorage: true,
    emitReadme: false,
  });

const alias = { find: "$lib", replacement: at("./src/lib") };
const builtAlias = { find: /^[./]+\/paraglide(?=\/)/, replacement: at(BUILT_MESSAGES) };
const testAlias = { find: /^bits-ui$/, replacement: at("./src/lib/testing/bits-ui.ts") };

export default defineConfig(({ command }) => ({
  html: command === "serve" ? { cspNonce: NONCE } : {},
  plugins: [svelte(), ...(process.env.VITEST ? [] : [messages(command)]), svelteTesting()],
  resolve: {
    alias: [alias, ...(command === "build" ? [builtAlias] : process.env.VITEST ? [testAlias] : [])],
  },
  clearScreen: false,
  server: {
    port: 1420,
    strictPort: true,
    headers: { "Content-Security-Policy": rules.join("; ") },
    proxy: {
      "/api": { target: devHost },
      "/events": { target: devHost, ws: true },
    },
  },
  build: {
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          // By default each combination of views that share a module has a chunk of its own, and requesting 60 small
          // chunks takes longer than parsing one large chunk.
          groups: [
            { name: "start", tags: ["$initial"], priority: 1 },
            { name: "shared", minShareCount: 2 },
          ],
        },
      },
    },
  },
  test: {
    environment: "happy-dom",
    // Test files share one page and its modules, which take longer to load than most files take to run. setup.ts
    // resets the page.
    isolate: false,
    // The page allocates many short-lived objects. With the default of 16 MiB, collecting them takes longer.
    execArgv: ["--max-semi-space-size=64"],
    restoreMocks: true,
    // Slow machines must not fail tests.
    testTimeout: 20_000,
    globalSetup: ["./src/lib/testing/messages.ts"],
    setupFiles: ["./src/lib/testing/setup.ts"],
    include: ["src/**/*.test.ts"],
  },
}));
