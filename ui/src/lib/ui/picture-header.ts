// Reads the type and size of a picture from its bytes, because a declared type proves nothing.

export interface PictureHeader {
  type: "png" | "jpeg" | "webp" | "gif";
  width: number;
  height: number;
  /** Set if the picture is animated. */
  animated: boolean;
}

/**
 * Reads the type and size of a picture. Returns `null` for types other than the four known ones, and for files whose
 * size browser engines may read differently. GIF files must be complete.
 */
export function readPictureHeader(bytes: Uint8Array): PictureHeader | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return pngHeader(view) ?? jpegHeader(view) ?? webpHeader(view) ?? gifHeader(view);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function word(view: DataView, at: number): string {
  return String.fromCharCode(...[0, 1, 2, 3].map((i) => view.getUint8(at + i)));
}

function pngHeader(view: DataView): PictureHeader | null {
  if (view.getUint32(0) !== 0x89504e47 || view.getUint32(4) !== 0x0d0a1a0a) return null;
  if (word(view, 12) !== "IHDR") return null;
  const size = { width: view.getUint32(16), height: view.getUint32(20) };
  // An animation is declared in a chunk before the image data.
  let at = 8;
  while (word(view, at + 4) !== "IDAT") {
    if (word(view, at + 4) === "acTL") return { type: "png", ...size, animated: true };
    at += 12 + view.getUint32(at);
  }
  return { type: "png", ...size, animated: false };
}

function jpegHeader(view: DataView): PictureHeader | null {
  if (view.getUint16(0) !== 0xffd8) return null;
  let at = 2;
  for (;;) {
    const marker = view.getUint16(at);
    // Markers without a length and fill bytes never precede the size in ordinary files, but can mislead a parser.
    if (marker <= 0xff01 || marker === 0xffff || (marker >= 0xffd0 && marker <= 0xffda))
      return null;
    const isSize =
      marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker);
    if (isSize) {
      const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)];
      return { type: "jpeg", width, height, animated: false };
    }
    at += 2 + view.getUint16(at + 2);
  }
}

function webpHeader(view: DataView): PictureHeader | null {
  if (word(view, 0) !== "RIFF" || word(view, 8) !== "WEBP") return null;
  const three = (at: number): number => view.getUint16(at, true) + (view.getUint8(at + 2) << 16);
  switch (word(view, 12)) {
    case "VP8X": {
      const animated = (view.getUint8(20) & 0x02) !== 0;
      return { type: "webp", width: three(24) + 1, height: three(27) + 1, animated };
    }
    case "VP8L": {
      const bits = view.getUint32(21, true);
      const [width, height] = [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
      return { type: "webp", width, height, animated: false };
    }
    case "VP8 ": {
      const [width, height] = [
        view.getUint16(26, true) & 0x3fff,
        view.getUint16(28, true) & 0x3fff,
      ];
      return { type: "webp", width, height, animated: false };
    }
    default:
      return null;
  }
}

/** Reads all frames of a GIF. Browser engines enlarge the screen to the first frame, so the largest size counts. */
function gifHeader(view: DataView): PictureHeader | null {
  if (!/^GIF8[79]a$/.test(word(view, 0) + word(view, 4).slice(0, 2))) return null;
  let [width, height, frames] = [view.getUint16(6, true), view.getUint16(8, true), 0];
  let at = 13 + colorTableBytes(view.getUint8(10));
  for (;;) {
    switch (view.getUint8(at)) {
      case 0x21:
        at = offsetAfterSubBlocks(view, at + 2);
        break;
      case 0x2c:
        frames += 1;
        width = Math.max(width, view.getUint16(at + 1, true) + view.getUint16(at + 5, true));
        height = Math.max(height, view.getUint16(at + 3, true) + view.getUint16(at + 7, true));
        at = offsetAfterSubBlocks(view, at + 11 + colorTableBytes(view.getUint8(at + 9)));
        break;
      case 0x3b:
        return frames === 0 ? null : { type: "gif", width, height, animated: frames > 1 };
      default:
        return null;
    }
  }
}

/** Returns the length of a color table in bytes. */
function colorTableBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 << ((flags & 0x07) + 1);
}

/** Returns the offset after a sequence of sub-blocks, each of which begins with its length. */
function offsetAfterSubBlocks(view: DataView, at: number): number {
  for (;;) {
    const length = view.getUint8(at);
    at += 1 + length;
    if (length === 0) return at;
  }
}
