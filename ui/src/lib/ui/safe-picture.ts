// Decides which pictures of servers may be rendered: those with bytes of the declared type, within bounds that are
// checked before decoding. SVG is excluded, because it can contain scripts.

import { registerPageState } from "$lib/page-state";

import { readPictureHeader } from "./picture-header";

/** Maximum size of a picture in base64 characters. */
const MAX_PICTURE_LENGTH = 10_000_000;
/** Maximum number of pixels of a picture. A decoded pixel takes four bytes. */
const MAX_PICTURE_PIXELS = 20_000_000;
/** Maximum number of pixels of a picture within Markdown text. */
const MAX_MARKDOWN_PICTURE_PIXELS = 65_536;
/** Maximum total number of pixels that are rendered without a click of the user. */
const MAX_TOTAL_PIXELS = 40_000_000;
let renderedPixels: number;
registerPageState(() => (renderedPixels = 0));

/**
 * Adds the pixels of a picture to the rendered total. Returns `false` if that would exceed the maximum, unless the user
 * requested the picture.
 */
export function reservePixels(pixels: number, isWished: boolean): boolean {
  if (!isWished && renderedPixels + pixels > MAX_TOTAL_PIXELS) return false;
  renderedPixels += pixels;
  return true;
}

/** Subtracts the pixels of a picture from the rendered total. */
export function releasePixels(pixels: number): void {
  renderedPixels -= pixels;
}

export type SafePicture =
  | { src: string; pixels: number; animated: boolean }
  /** `bytes`: the data is too long. `type`: the data is not a picture of the declared type. */
  | { why: "bytes" | "type" }
  | { why: "pixels"; width: number; height: number };

/** Returns the data URL of a base64 picture, or the reason why it is not rendered. */
export function safePicture(data: string, claimed: string): SafePicture {
  if (data.length > MAX_PICTURE_LENGTH) return { why: "bytes" };
  const bytes = decodedBytes(data);
  const picture = bytes === null ? null : readPictureHeader(bytes);
  const type = claimed.split(";")[0]?.trim().toLowerCase().replace("image/jpg", "image/jpeg");
  if (picture === null || type !== `image/${picture.type}`) return { why: "type" };
  const { width, height } = picture;
  if (width * height > MAX_PICTURE_PIXELS) return { why: "pixels", width, height };
  const { animated } = picture;
  return { src: `data:${type};base64,${data}`, pixels: width * height, animated };
}

/**
 * Returns the data URL of a small still picture if `url` contains one. Otherwise returns `null`, because a text may
 * contain hundreds of pictures.
 */
export function safePictureUrl(url: string): string | null {
  const parts = /^data:(image\/[\w.+-]+);base64,/i.exec(url);
  if (!parts?.[1]) return null;
  const found = safePicture(url.slice(parts[0].length), parts[1]);
  return "src" in found && found.pixels <= MAX_MARKDOWN_PICTURE_PIXELS && !found.animated
    ? found.src
    : null;
}

function decodedBytes(base64: string): Uint8Array | null {
  try {
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
    return bytes;
  } catch {
    return null;
  }
}
