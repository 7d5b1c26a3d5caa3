// Icons that servers declare for their offers.

import type { Icon } from "$lib/api/generated";

import { readPictureHeader } from "./picture-header";

/** Maximum length of an icon URL in characters. */
const MAX_ICON_LENGTH = 64_000;
/** Maximum width and height in pixels. A small file can decode to a picture that exhausts the memory. */
const MAX_ICON_SIDE = 1_024;
const SUPPORTED_ICON_URL = /^data:image\/(?:png|jpe?g|webp)(?:;[^,;]*)*;base64,/i;

/**
 * Returns the data URL of the first icon that is safe to show: a still bitmap in a data URL. Remote icons are never
 * fetched.
 */
export function safeIconUrl(icons: Icon[]): string | null {
  return icons.find(({ src }) => isSafe(src))?.src ?? null;
}

function isSafe(src: string): boolean {
  const head = src.length <= MAX_ICON_LENGTH ? SUPPORTED_ICON_URL.exec(src)?.[0] : undefined;
  if (head === undefined) return false;
  const bytes = decodedBytes(src.slice(head.length));
  const picture = bytes === null ? null : readPictureHeader(bytes);
  if (picture === null || picture.animated) return false;
  const claimed = head
    .toLowerCase()
    .includes(`image/${picture.type === "jpeg" ? "jp" : picture.type}`);
  return claimed && picture.width <= MAX_ICON_SIDE && picture.height <= MAX_ICON_SIDE;
}

function decodedBytes(base64: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
