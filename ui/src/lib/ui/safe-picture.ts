// Which pictures of servers may be drawn: those whose bytes are what they claim to be, within bounds that are looked at before
// anything is decoded. No drawings (SVG): they are programs.

import { pageState } from "$lib/page-state";

import { readPictureHeader } from "./picture-header";

/** The most bytes of a picture, as Base64 characters. */
const LARGEST = 10_000_000;
/** The most pixels; each takes four bytes once it is decoded. */
const PIXELS = 20_000_000;
/** The most pixels of a picture within text. */
const SMALL = 65_536;
/** The most pixels of all pictures that are drawn unasked at one time. */
const TOGETHER = 40_000_000;
let drawn: number;
pageState(() => (drawn = 0));

/** Counts a picture as drawn; without the user's wish only if all together stay within their bound. */
export function reservePixels(pixels: number, isWished: boolean): boolean {
  if (!isWished && drawn + pixels > TOGETHER) return false;
  drawn += pixels;
  return true;
}

/** Counts it as drawn no longer. */
export function releasePixels(pixels: number): void {
  drawn -= pixels;
}

export type SafePicture =
  | { src: string; pixels: number; animated: boolean }
  /** Too long; no picture, or not of the type that it claims; too large. */
  | { why: "bytes" | "type" }
  | { why: "pixels"; width: number; height: number };

/** How a picture that came as Base64 may be drawn, if it may. */
export function safePicture(data: string, claimed: string): SafePicture {
  if (data.length > LARGEST) return { why: "bytes" };
  const bytes = decoded(data);
  const picture = bytes === null ? null : readPictureHeader(bytes);
  const type = claimed.split(";")[0]?.trim().toLowerCase().replace("image/jpg", "image/jpeg");
  if (picture === null || type !== `image/${picture.type}`) return { why: "type" };
  const { width, height } = picture;
  if (width * height > PIXELS) return { why: "pixels", width, height };
  const { animated } = picture;
  return { src: `data:${type};base64,${data}`, pixels: width * height, animated };
}

/** The same for an address; nothing for one that has no small and still picture in itself, as a text may have hundreds. */
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
