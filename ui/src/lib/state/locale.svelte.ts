// Current language. Messages read it, so that everything displayed is updated at once.
import { overwriteGetLocale, type Locale } from "../../paraglide/runtime";

import { app } from "./app.svelte";

const system: Locale = navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";

/** Returns the language in which the page displays its texts. */
export function locale(): Locale {
  return app.settings.language === "system" ? system : app.settings.language;
}

/** Returns the language of the page's texts as a BCP 47 tag for `Intl`. */
export function languageTag(): string {
  return locale() === "zh" ? "zh-Hans" : "en";
}

overwriteGetLocale(locale);
