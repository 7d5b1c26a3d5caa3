import { fileURLToPath } from "node:url";

import { paraglideVitePlugin } from "@inlang/paraglide-js";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { svelteTesting } from "@testing-library/svelte/vite";
import { defineConfig } from "vitest/config";

// The page may also be served by the development host; then commands and events go there.
const devHost = process.env.DRAWBRIDGE_DEV_HOST ?? "http://127.0.0.1:1430";

const messages = paraglideVitePlugin({
  project: "./project.inlang",
  outdir: "./src/paraglide",
  strategy: ["baseLocale"],
  disableAsyncLocalStorage: true,
  emitReadme: false,
});

export default defineConfig({
  plugins: [svelte(), ...(process.env.VITEST ? [] : [messages]), svelteTesting()],
  resolve: { alias: { $lib: fileURLToPath(new URL("./src/lib", import.meta.url)) } },
  clearScreen: false,
  server: {
    port: 1420,
    strictPort: true,
    proxy: {
      "/api": { target: devHost },
      "/events": { target: devHost, ws: true },
    },
  },
  build: { reportCompressedSize: false, modulePreload: { polyfill: false } },
  test: {
    environment: "happy-dom",
    // A machine that is busy with other suites is slow, and not wrong.
    testTimeout: 20_000,
    globalSetup: ["./src/lib/testing/messages.ts"],
    setupFiles: ["./src/lib/testing/setup.ts"],
    include: ["src/**/*.test.ts"],
  },
});
