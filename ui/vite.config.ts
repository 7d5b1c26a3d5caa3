import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { paraglideVitePlugin } from "@inlang/paraglide-js";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { svelteTesting } from "@testing-library/svelte/vite";
import { defineConfig } from "vitest/config";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// The page may also be served by the development host; then commands and events go there.
const devHost = process.env.DRAWBRIDGE_DEV_HOST ?? "http://127.0.0.1:1430";

// The page under development obeys the app's rules for its content. It gets more only for what live reload needs: styles that
// carry this nonce, and its own server, which also stands in for the host.
const NONCE = "live-reload";
const config = readFileSync(at("../src-tauri/tauri.conf.json"), "utf8");
const { csp } = (JSON.parse(config) as { app: { security: { csp: Record<string, string> } } }).app
  .security;
const more: Record<string, string> = {
  "style-src": `'nonce-${NONCE}'`,
  "connect-src": "'self' ws://localhost:1420",
};
const rules = Object.entries(csp).map(([name, sources]) =>
  `${name} ${sources} ${more[name] ?? ""}`.trim(),
);

// A build has a module for each message, so that each part of the page loads only its own. Everything else has one for each
// language (see `npm run messages`): two thousand files take long to read.
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
  build: { reportCompressedSize: false, modulePreload: { polyfill: false } },
  test: {
    environment: "happy-dom",
    // Test files share one page and its modules, which take longer to load than most files to run; setup.ts resets the page.
    isolate: false,
    restoreMocks: true,
    // A machine that is busy with other suites is slow, and not wrong.
    testTimeout: 20_000,
    globalSetup: ["./src/lib/testing/messages.ts"],
    setupFiles: ["./src/lib/testing/setup.ts"],
    include: ["src/**/*.test.ts"],
  },
}));
