// The language in use. Messages read it, so that everything shown follows a change at once.
import { overwriteGetLocale, type Locale } from "../../paraglide/runtime";

import { app } from "./app.svelte";

const system: Locale = navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";

/** The language of the page's own words. */
export function locale(): Locale {
  return app.settings.language === "system" ? system : app.settings.language;
}

/** The same as a language tag for `Intl`. */
export function languageTag(): string {
  return locale() === "zh" ? "zh-Hans" : "en";
}

overwriteGetLocale(locale);
