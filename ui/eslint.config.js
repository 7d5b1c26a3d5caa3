import js from "@eslint/js";
import svelte from "eslint-plugin-svelte";
import globals from "globals";
import ts from "typescript-eslint";

import svelteConfig from "./svelte.config.js";

export default ts.config(
  { ignores: ["dist/", "src/paraglide/", "src/lib/api/generated.ts"] },
  js.configs.recommended,
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  ...svelte.configs.prettier,
  {
    languageOptions: { globals: { ...globals.browser } },
    rules: {
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_" },
      ],
      // Most sets and maps are not shown; those that are use the reactive kinds.
      "svelte/prefer-svelte-reactivity": "off",
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            { group: ["@tauri-apps/*"], message: "Only src/lib/platform knows the desktop shell." },
          ],
        },
      ],
    },
  },
  { files: ["src/lib/platform/**"], rules: { "no-restricted-imports": "off" } },
  { files: ["*.config.{js,ts}"], languageOptions: { globals: { ...globals.node } } },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: { parserOptions: { parser: ts.parser, svelteConfig } },
  },
  { files: ["src/lib/ui/SafeHtml.svelte"], rules: { "svelte/no-at-html-tags": "off" } },
);
