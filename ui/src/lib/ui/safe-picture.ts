// Decides which pictures of servers may be rendered: those with bytes of the declared type, within bounds that are
// checked before decoding. SVG is excluded, because it can contain scripts.

import { pageState } from "$lib/page-state";

import { readPictureHeader } from "./picture-header";

/** Maximum size of a picture in Base64 characters. */
const MAX_LENGTH = 10_000_000;
/** Maximum number of pixels. Each takes four bytes once decoded. */
const PIXELS = 20_000_000;
/** Maximum number of pixels of a picture within text. */
const SMALL = 65_536;
/** Maximum total number of pixels that are rendered at once without a request of the user. */
const MAX_TOTAL_PIXELS = 40_000_000;
let drawn: number;
pageState(() => (drawn = 0));

/** Reserves the pixels of a picture. Without a request of the user, fails if the total would exceed its bound. */
export function reservePixels(pixels: number, isWished: boolean): boolean {
  if (!isWished && drawn + pixels > MAX_TOTAL_PIXELS) return false;
  drawn += pixels;
  return true;
}

/** Releases the pixels of a picture. */
export function releasePixels(pixels: number): void {
  drawn -= pixels;
}

export type SafePicture =
  | { src: string; pixels: number; animated: boolean }
  /** The reason: too long, not a picture or not of the declared type, or too many pixels. */
  | { why: "bytes" | "type" }
  | { why: "pixels"; width: number; height: number };

/** Returns how a Base64 picture may be rendered, if it may. */
export function safePicture(data: string, claimed: string): SafePicture {
  if (data.length > MAX_LENGTH) return { why: "bytes" };
  const bytes = decoded(data);
  const picture = bytes === null ? null : readPictureHeader(bytes);
  const type = claimed.split(";")[0]?.trim().toLowerCase().replace("image/jpg", "image/jpeg");
  if (picture === null || type !== `image/${picture.type}`) return { why: "type" };
  const { width, height } = picture;
  if (width * height > PIXELS) return { why: "pixels", width, height };
  const { animated } = picture;
  return { src: `data:${type};base64,${data}`, pixels: width * height, animated };
}

/**
 * Returns the same for a URL. Returns `null` unless it contains a small still picture, because a text may have
 * hundreds.
 */
export function safePictureUrl(url: string): string | null {
  const parts = /^data:(image\/[\w.+-]+);base64,/i.exec(url);
  if (!parts?.[1]) return null;
  const found = safePicture(url.slice(parts[0].length), parts[1]);
  return "src" in found && found.pixels <= SMALL && !found.animated ? found.src : null;
}

function decoded(base64: string): Uint8Array | null {
  try {
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
    return bytes;
  } catch {
    return null;
  }
}
