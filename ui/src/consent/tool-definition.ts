// Displays a tool's definition with the data of its icons replaced by a size. No model receives icons.

import { formatBytes } from "$lib/format/bytes";
import { languageTag } from "$lib/state/locale.svelte";

import { m } from "../paraglide/messages";

/** Matches the top-level `icons` member up to the next member. Only top-level members are indented by two spaces. */
const ICONS_MEMBER = /^ {2}"icons": [^]*?(?=^ {2}"|^\})/m;
/** Matches base64 data in the `src` of an icon. Other addresses are displayed unchanged. */
const ICON_DATA = /("src": "data:image\/[a-z0-9.+-]{1,40};base64,)([A-Za-z0-9+/]{64,}={0,2})"/g;
const BYTES_PER_BASE64_CHARACTER = 3 / 4;
/** Matches one icon, which is indented by four spaces. JSON strings contain no line breaks. */
const SINGLE_ICON = /^ {4}\{\n[^]*?^ {4}\}/gm;
/** Maximum length of a joined line. The host joins lines up to the same length (`MAX_JSON_LINE_BYTES`). */
const MAX_JOINED_LENGTH = 120;

/**
 * Replaces the data of each icon by its size, and joins the lines that become short enough. `definition` must be
 * indented by two spaces.
 */
export function elideIconData(definition: string): string {
  return definition.replace(ICONS_MEMBER, (icons) => {
    const elided = icons.replace(ICON_DATA, (_, before: string, data: string) => {
      const size = formatBytes(Math.floor(data.length * BYTES_PER_BASE64_CHARACTER), languageTag());
      return `${before}…" (${m.consent_icon_data({ size })})`;
    });
    if (elided === icons) return icons;
    const joined = joinLines(elided.trimEnd());
    return `${joined ?? elided.trimEnd().replace(SINGLE_ICON, (icon) => joinLines(icon) ?? icon)}\n`;
  });
}

/** Returns the lines joined to one, or `null` if it would be too long. */
function joinLines(lines: string): string | null {
  const joined = lines.replace(/\n */g, " ");
  return joined.length <= MAX_JOINED_LENGTH ? joined : null;
}
