// Pages of the user guide, stored as Markdown in `guide/en` and `guide/zh`. Used by the guide view and its test.
import type { Locale } from "../paraglide/runtime";

import { m } from "../paraglide/messages";

/** File names of the pages in display order. */
export const GUIDE_PAGES = [
  "connect",
  "approve",
  "rules",
  "models",
  "sampling",
  "apps",
  "sign-in",
  "sandbox",
  "audit",
  "troubleshooting",
  "command-line",
] as const;
export type GuidePage = (typeof GUIDE_PAGES)[number];

export const pageTitles: Record<GuidePage, () => string> = {
  connect: m.guide_page_connect,
  approve: m.guide_page_approve,
  rules: m.guide_page_rules,
  models: m.guide_page_models,
  sampling: m.guide_page_sampling,
  apps: m.guide_page_apps,
  "sign-in": m.guide_page_sign_in,
  sandbox: m.guide_page_sandbox,
  audit: m.guide_page_audit,
  troubleshooting: m.guide_page_troubleshooting,
  "command-line": m.guide_page_command_line,
};

const texts = import.meta.glob<string>("../../guide/*/*.md", { query: "?raw", import: "default" });

/** Returns the guide page with this name, or `undefined` if there is none. */
export function guidePage(name: string | undefined): GuidePage | undefined {
  return GUIDE_PAGES.find((page) => page === name);
}

/** Loads the Markdown of a page, which is a separate chunk. */
export async function readPage(language: Locale, page: GuidePage): Promise<string> {
  const read = texts[`../../guide/${language}/${page}.md`];
  if (!read) throw new Error(`The guide has no page ${page} in ${language}`);
  return read();
}
