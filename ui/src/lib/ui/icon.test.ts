import { expect, test } from "vitest";

import { safeIconUrl } from "./icon";

const ascii = (words: string): number[] =>
  Array.from(words, (character) => character.charCodeAt(0));
const uint32 = (value: number): number[] => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255);

function png(width: number, height: number, before: number[] = []): number[] {
  const start = [
    0x89,
    ...ascii("PNG\r\n\x1a\n"),
    ...uint32(13),
    ...ascii("IHDR"),
    ...uint32(width),
    ...uint32(height),
  ];
  const header = [...start, 8, 6, 0, 0, 0, ...uint32(0), ...before];
  return [...header, ...uint32(0), ...ascii("IDAT"), ...uint32(0)];
}

function jpeg(width: number, height: number): number[] {
  const sizes = [height >> 8, height & 255, width >> 8, width & 255];
  return [0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 11, 8, ...sizes, 1, 1, 0x11, 0];
}

function webp(flags: number): number[] {
  const head = [...ascii("RIFF"), 0, 0, 0, 0, ...ascii("WEBPVP8X"), 10, 0, 0, 0];
  return [...head, flags, 0, 0, 0, 15, 0, 0, 15, 0, 0];
}

function dataUrl(type: string, bytes: number[]): string {
  return `data:image/${type};base64,${btoa(String.fromCharCode(...bytes))}`;
}

function isShown(src: string): boolean {
  return safeIconUrl([{ src, mimeType: null }]) === src;
}

test("renders PNG, JPEG and WebP data URLs", () => {
  // [base-icons-png-jpeg]
  expect(isShown(dataUrl("png", png(16, 16))), "PNG should be supported").toBe(true);
  expect(isShown(dataUrl("jpeg", jpeg(16, 16))), "JPEG should be supported").toBe(true);
  expect(isShown(dataUrl("jpg", jpeg(16, 16))), "the type image/jpg should be supported").toBe(
    true,
  );
  expect(isShown(dataUrl("webp", webp(0))), "WebP should be supported").toBe(true);
  const icons = ["https://x.test/a.png", dataUrl("png", png(16, 16))].map((src) => ({
    src,
    mimeType: null,
  }));
  expect(safeIconUrl(icons), "the first supported icon should be used").toBe(icons[1]?.src);
});

test("fetches nothing and rejects executable formats", () => {
  // [base-icons-schemes] [base-icons-untrusted] [base-icons-executable] [base-icons-allowlist]
  for (const src of [
    "https://evil.test/x.png",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "data:text/html;base64,PHNjcmlwdD4=",
    dataUrl("svg+xml", ascii("<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>")),
    dataUrl("gif", ascii("GIF89a")),
  ]) {
    expect(isShown(src), src).toBe(false);
  }
});

test("detects the type of a picture by its bytes", () => {
  // [base-icons-magic-bytes]
  expect(isShown(dataUrl("png", jpeg(16, 16))), "a JPEG declared as PNG should be rejected").toBe(
    false,
  );
  expect(isShown(dataUrl("jpeg", png(16, 16))), "a PNG declared as JPEG should be rejected").toBe(
    false,
  );
  expect(
    isShown(dataUrl("png", ascii("<svg><script/></svg>"))),
    "text declared as PNG should be rejected",
  ).toBe(false);
  expect(
    isShown(dataUrl("png", png(16, 16).slice(0, 20))),
    "a truncated picture should be rejected",
  ).toBe(false);
  expect(isShown("data:image/png;base64,%%%"), "invalid Base64 should be rejected").toBe(false);
});

test("rejects animated and oversized pictures", () => {
  // [base-icons-exhaustion]
  expect(isShown(dataUrl("png", png(1_024, 1_024))), "the largest size should be accepted").toBe(
    true,
  );
  expect(isShown(dataUrl("png", png(65_535, 65_535))), "too many pixels should be rejected").toBe(
    false,
  );
  expect(isShown(dataUrl("jpeg", jpeg(65_535, 16))), "too large a width should be rejected").toBe(
    false,
  );
  const frames = [...uint32(8), ...ascii("acTL"), ...uint32(9), ...uint32(0), ...uint32(0)];
  expect(isShown(dataUrl("png", png(16, 16, frames))), "an animated PNG should be rejected").toBe(
    false,
  );
  expect(isShown(dataUrl("webp", webp(0x02))), "an animated WebP should be rejected").toBe(false);
  expect(
    isShown(`${dataUrl("png", png(16, 16))}${"A".repeat(100_000)}`),
    "too many bytes should be rejected",
  ).toBe(false);
});
