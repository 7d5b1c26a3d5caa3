import { expect, test } from "vitest";

import { playableSound, soundFormat, type SoundFormat } from "./sound-format";

const base64 = (bytes: (number | string)[]): string =>
  btoa(bytes.map((part) => (typeof part === "string" ? part : String.fromCharCode(part))).join(""));

const SAMPLES: [SoundFormat, string, string][] = [
  ["wav", base64(["RIFF", 36, 0, 0, 0, "WAVEfmt "]), "audio/x-wav"],
  ["mp3", base64(["ID3", 3, 0, 0]), "audio/mpeg"],
  ["mp3", base64([0xff, 0xfb, 0x90, 0x64]), "audio/mp3"],
  ["ogg", base64(["OggS", 0, 2]), "audio/ogg; codecs=opus"],
  ["flac", base64(["fLaC", 0]), "audio/flac"],
  ["mp4", base64([0, 0, 0, 28, "ftypM4A ", 0]), "audio/mp4"],
  ["aac", base64([0xff, 0xf1, 0x50, 0x80]), "AUDIO/AAC"],
  ["webm", base64([0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42, 0x82, 0x84, "webm"]), "audio/webm"],
];

test.each(SAMPLES)("S12: detects %s by its bytes", (format, data, declared) => {
  expect(soundFormat(data)).toBe(format);
  expect(playableSound(data, declared), "the sound should have its detected type").toMatch(
    /^data:audio\/[a-z0-9]+;base64,/,
  );
  for (const [other, , type] of SAMPLES) {
    const isShared = type.toLowerCase() === "audio/aac" && format === "mp4";
    if (other !== format && !isShared) {
      expect(
        playableSound(data, type),
        `${format} declared as ${type} should be rejected`,
      ).toBeNull();
    }
  }
});

test.each([
  ["a page", base64(["<html><script>alert(1)</script></html>"])],
  ["a drawing", base64(['<svg xmlns="http://www.w3.org/2000/svg">'])],
  ["a playlist that names other addresses", base64(["#EXTM3U\nhttps://evil.example/a.ts"])],
  ["another playlist", base64(["[playlist]\nFile1=https://evil.example"])],
  ["a film", base64([0, 0, 0, 24, "ftypqt  ", 0])],
  ["a picture", base64([0x89, "PNG\r\n", 0x1a, "\n"])],
  ["another RIFF file", base64(["RIFF", 0, 0, 0, 0, "AVI LIST"])],
  ["reserved frame headers", base64([0xff, 0xff, 0xff, 0xff])],
  ["nothing", ""],
  ["no Base64", "%%%%"],
])("S12: rejects %s with any declared type", (_, data) => {
  for (const [, , declared] of SAMPLES) expect(playableSound(data, declared)).toBeNull();
});
