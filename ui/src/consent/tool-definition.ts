// A tool's definition as it is read: the data of its icons, which nobody reads and no model gets, as a size.

import { formatBytes } from "$lib/format/bytes";
import { languageTag } from "$lib/state/locale.svelte";

import { m } from "../paraglide/messages";

/** The member of the definition itself, up to the next one: only there a line begins with two spaces and a quotation mark. */
const ICONS = /^ {2}"icons": [^]*?(?=^ {2}"|^\})/m;
/** Nothing but base64 stands for itself: other text in an address is shown. */
const DATA = /("src": "data:image\/[a-z0-9.+-]{1,40};base64,)([A-Za-z0-9+/]{64,}={0,2})"/g;
const BASE64 = 3 / 4;

/** The definition, indented by two spaces, with the size of each icon in the place of its data. */
export function elideIconData(definition: string): string {
  return definition.replace(ICONS, (icons) =>
    icons.replace(DATA, (_, before: string, data: string) => {
      const size = formatBytes(Math.floor(data.length * BASE64), languageTag());
      return `${before}…" (${m.consent_icon_data({ size })})`;
    }),
  );
}
