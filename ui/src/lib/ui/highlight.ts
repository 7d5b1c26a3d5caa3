// Syntax highlighting. The highlighter is loaded on first use.
import type { HLJSApi, LanguageFn } from "highlight.js";

/** Maximum length of highlighted code in characters, so that highlighting does not block the page. */
const MAX_HIGHLIGHTED_CHARACTERS = 100_000;
/** Maximum time to wait for an animation frame, in milliseconds. */
const MAX_FRAME_WAIT_MS = 200;

const LANGUAGES: Record<string, () => Promise<{ default: LanguageFn }>> = {
  bash: () => import("highlight.js/lib/languages/bash"),
  c: () => import("highlight.js/lib/languages/c"),
  cpp: () => import("highlight.js/lib/languages/cpp"),
  css: () => import("highlight.js/lib/languages/css"),
  diff: () => import("highlight.js/lib/languages/diff"),
  go: () => import("highlight.js/lib/languages/go"),
  ini: () => import("highlight.js/lib/languages/ini"),
  java: () => import("highlight.js/lib/languages/java"),
  javascript: () => import("highlight.js/lib/languages/javascript"),
  json: () => import("highlight.js/lib/languages/json"),
  markdown: () => import("highlight.js/lib/languages/markdown"),
  python: () => import("highlight.js/lib/languages/python"),
  rust: () => import("highlight.js/lib/languages/rust"),
  sql: () => import("highlight.js/lib/languages/sql"),
  typescript: () => import("highlight.js/lib/languages/typescript"),
  xml: () => import("highlight.js/lib/languages/xml"),
  yaml: () => import("highlight.js/lib/languages/yaml"),
};
const LANGUAGE_ALIASES: Record<string, string> = {
  sh: "bash",
  shell: "bash",
  zsh: "bash",
  html: "xml",
  svg: "xml",
  js: "javascript",
  jsonc: "json",
  md: "markdown",
  py: "python",
  rs: "rust",
  toml: "ini",
  ts: "typescript",
  yml: "yaml",
};

let core: Promise<HLJSApi> | null = null;

/** Returns the code as highlighted HTML, or `null` if it must be shown as plain text. */
export async function highlight(code: string, language: string): Promise<string | null> {
  const lower = language.toLowerCase();
  const name = LANGUAGE_ALIASES[lower] ?? lower;
  const load = Object.hasOwn(LANGUAGES, name) ? LANGUAGES[name] : undefined;
  if (!load || code.length > MAX_HIGHLIGHTED_CHARACTERS) return null;
  core ??= import("highlight.js/lib/core").then((module) => module.default);
  const [hljs, grammar] = await Promise.all([core, load()]);
  if (!hljs.getLanguage(name)) hljs.registerLanguage(name, grammar.default);
  // Highlighting and rendering use separate frames, so that neither is long.
  await nextPaint();
  const html = hljs.highlight(code, { language: name, ignoreIllegals: true }).value;
  await nextPaint();
  return html;
}

/** Resolves after the next frame was painted, or after a timeout, because hidden pages are not painted. */
function nextPaint(): Promise<void> {
  return new Promise((end) => {
    const late = setTimeout(end, MAX_FRAME_WAIT_MS);
    requestAnimationFrame(() => {
      clearTimeout(late);
      setTimeout(end);
    });
  });
}
