// Hexadecimal view of the first bytes of binary data.

/** Row of the view: the offset, and the bytes in hexadecimal and as characters. */
export interface HexRow {
  offset: string;
  hex: string;
  text: string;
}

const ROW = 16;

/** Returns the number of bytes that a base64 text encodes. */
export function byteCount(base64: string): number {
  return Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
}

/** Returns the rows for the first `limit` bytes, or `null` if the text is not base64. */
export function hexRows(base64: string, limit: number): HexRow[] | null {
  let bytes: Uint8Array;
  try {
    const start = base64.slice(0, Math.ceil(limit / 3) * 4);
    bytes = Uint8Array.from(atob(start), (character) => character.charCodeAt(0)).slice(0, limit);
  } catch {
    return null;
  }
  const rows: HexRow[] = [];
  for (let at = 0; at < bytes.length; at += ROW) {
    const row = [...bytes.slice(at, at + ROW)];
    rows.push({
      offset: at.toString(16).padStart(6, "0"),
      hex: row.map((byte) => byte.toString(16).padStart(2, "0")).join(" "),
      text: row
        .map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·"))
        .join(""),
    });
  }
  return rows;
}
