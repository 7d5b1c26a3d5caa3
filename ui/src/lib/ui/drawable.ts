// Which pictures of servers may be drawn: those whose bytes are what they claim to be, within bounds that are looked at before
// anything is decoded. No drawings (SVG): they are programs.

import { pictureOf } from "./picture";

/** The most bytes of a picture, as Base64 characters. */
const LARGEST = 10_000_000;
/** The most pixels; each takes four bytes once it is decoded. */
const PIXELS = 20_000_000;
/** Enough of a picture to find its type and its size in, as Base64 characters. */
const HEAD = 1_000_000;

export type Drawable =
  | { src: string }
  /** Too long; no picture, or not of the type that it claims; too large. */
  | { why: "bytes" | "type" }
  | { why: "pixels"; width: number; height: number };

/** How a picture that came as Base64 may be drawn, if it may. */
export function drawable(data: string, claimed: string): Drawable {
  if (data.length > LARGEST) return { why: "bytes" };
  const bytes = head(data);
  const picture = bytes === null ? null : pictureOf(bytes);
  const type = claimed.split(";")[0]?.trim().toLowerCase().replace("image/jpg", "image/jpeg");
  if (picture === null || type !== `image/${picture.type}`) return { why: "type" };
  const { width, height } = picture;
  if (width * height > PIXELS) return { why: "pixels", width, height };
  return { src: `data:${type};base64,${data}` };
}

/** The same for an address; nothing for one that has no picture in itself. */
export function drawableUrl(url: string): string | null {
  const parts = /^data:(image\/[\w.+-]+);base64,/i.exec(url);
  if (!parts?.[1]) return null;
  const found = drawable(url.slice(parts[0].length), parts[1]);
  return "src" in found ? found.src : null;
}

function head(base64: string): Uint8Array | null {
  const start = base64.slice(0, HEAD).replace(/\s/g, "");
  try {
    const text = atob(start.length < HEAD ? start : start.slice(0, HEAD - (HEAD % 4)));
    return Uint8Array.from(text, (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
