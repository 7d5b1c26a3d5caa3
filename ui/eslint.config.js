import js from "@eslint/js";
import svelte from "eslint-plugin-svelte";
import globals from "globals";
import ts from "typescript-eslint";

import svelteConfig from "./svelte.config.js";

export default ts.config(
  { ignores: ["dist/", "src/paraglide/", "src/lib/api/generated.ts"] },
  js.configs.recommended,
  ...ts.configs.recommendedTypeChecked,
  ...svelte.configs.recommended,
  ...svelte.configs.prettier,
  {
    languageOptions: {
      globals: { ...globals.browser },
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
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
  { files: ["**/*.svelte.ts"], languageOptions: { parserOptions: { parser: ts.parser } } },
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
    languageOptions: {
      parserOptions: {
        parser: ts.parser,
        svelteConfig,
        // ESLint creates the program anew for each component, so test files are excluded.
        projectService: false,
        project: "./tsconfig.lint.json",
        extraFileExtensions: [".svelte"],
      },
    },
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
