import js from "@eslint/js";
import svelte from "eslint-plugin-svelte";
import globals from "globals";
import ts from "typescript-eslint";

import { typedParser } from "./eslint-types.js";
import svelteConfig from "./svelte.config.js";

const parser = typedParser(`${import.meta.dirname}/tsconfig.json`, svelteConfig);

export default ts.config(
  { ignores: ["dist/", "src/paraglide/", "src/lib/api/generated.ts"] },
  js.configs.recommended,
  ...ts.configs.recommendedTypeChecked,
  { languageOptions: { parser } },
  ...svelte.configs.recommended,
  ...svelte.configs.prettier,
  {
    languageOptions: {
      globals: { ...globals.browser },
      parserOptions: {
        parser,
        projectService: true,
        tsconfigRootDir: import.meta.dirname,
        extraFileExtensions: [".svelte"],
        svelteConfig,
      },
    },
    rules: {
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_" },
      ],
      // Most sets and maps are not rendered. The rendered ones use the reactive classes.
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
  { files: ["**/*.js"], ...ts.configs.disableTypeChecked },
  {
    files: ["**/*.test.ts"],
    rules: {
      // Failures of the host are plain objects, passed on as the platform delivers them.
      "@typescript-eslint/only-throw-error": "off",
      "@typescript-eslint/prefer-promise-reject-errors": "off",
      // Exports of components have the type `any` here. svelte-check knows their types.
      "@typescript-eslint/no-unsafe-call": "off",
      "@typescript-eslint/no-unsafe-return": "off",
    },
  },
  {
    files: ["**/*.svelte"],
    rules: {
      // Other components, and parameters of snippets and callbacks, have the type `any` here. svelte-check knows
      // their types.
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-call": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-return": "off",
      "@typescript-eslint/no-unnecessary-type-assertion": "off",
    },
  },
  { files: ["src/lib/ui/SafeHtml.svelte"], rules: { "svelte/no-at-html-tags": "off" } },
);
