// Detects audio formats by their first bytes, because a declared MIME type proves nothing. Used by MediaView before
// playback.

/** Declared MIME types by format. The player receives the first one. */
const DECLARED_MIME_TYPES = {
  wav: ["audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave"],
  mp3: ["audio/mpeg", "audio/mp3", "audio/mpeg3", "audio/x-mpeg-3"],
  ogg: ["audio/ogg", "audio/opus", "audio/vorbis"],
  flac: ["audio/flac", "audio/x-flac"],
  mp4: ["audio/mp4", "audio/m4a", "audio/x-m4a", "audio/aac"],
  aac: ["audio/aac", "audio/aacp", "audio/x-aac"],
  webm: ["audio/webm"],
} as const;

export type SoundFormat = keyof typeof DECLARED_MIME_TYPES;

/** Length of the examined header in base64 characters. All formats are detected within 48 bytes. */
const EXAMINED_HEADER_LENGTH = 64;

/**
 * Returns the data URL of a playable sound. Returns `null` if its bytes have an unknown format or not the declared one.
 * @param data Content in base64.
 */
export function playableSound(data: string, declared: string): string | null {
  const format = soundFormat(data);
  const type = declared.split(";")[0]?.trim().toLowerCase() ?? "";
  if (format === null || !DECLARED_MIME_TYPES[format].some((known) => known === type)) return null;
  return `data:${DECLARED_MIME_TYPES[format][0]};base64,${data}`;
}

/** Detects the format of a sound by its first bytes. Returns `null` if it is unknown. */
export function soundFormat(data: string): SoundFormat | null {
  const bytes = headerBytes(data);
  if (bytes === null || bytes.length < 4) return null;
  const word = (at: number): string => String.fromCharCode(...bytes.subarray(at, at + 4));
  if (word(0) === "RIFF") return word(8) === "WAVE" ? "wav" : null;
  if (word(0) === "OggS") return "ogg";
  if (word(0) === "fLaC") return "flac";
  // ISO base media: a file type box with an audio brand, so that videos are rejected.
  if (word(4) === "ftyp") return /^(M4A |M4B |isom|iso2|mp42|dash)$/.test(word(8)) ? "mp4" : null;
  // EBML. Matroska and WebM differ in a later document type.
  if (word(0) === "\u001aE\u00df\u00a3") return text(bytes).includes("webm") ? "webm" : null;
  if (word(0).startsWith("ID3")) return "mp3";
  return frameFormat(bytes);
}

/** Detects audio without a container by its first frame header: MPEG audio, or AAC in ADTS. */
function frameFormat(bytes: Uint8Array): SoundFormat | null {
  const [sync = 0, second = 0, third = 0] = bytes;
  if (sync !== 0xff || (second & 0xe0) !== 0xe0) return null;
  const [version, layer] = [(second >> 3) & 3, (second >> 1) & 3];
  if (layer === 0) return (second & 0xf6) === 0xf0 ? "aac" : null;
  const isReserved = version === 1 || third >> 4 === 15 || ((third >> 2) & 3) === 3;
  return isReserved ? null : "mp3";
}

function text(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

function headerBytes(data: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(data.slice(0, EXAMINED_HEADER_LENGTH)), (c) => c.charCodeAt(0));
  } catch {
    return null;
  }
}
