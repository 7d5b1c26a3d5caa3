import { expect, test } from "vitest";

import { safePicture, safePictureUrl } from "./safe-picture";

const uint32 = (value: number): number[] => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255);
const ascii = (words: string): number[] => Array.from(words, (c) => c.charCodeAt(0));
const base64 = (bytes: number[]): string => btoa(String.fromCharCode(...bytes));

function png(width: number, height: number): string {
  const size = [
    ...uint32(13),
    ...ascii("IHDR"),
    ...uint32(width),
    ...uint32(height),
    8,
    6,
    0,
    0,
    0,
  ];
  return base64([
    0x89,
    ...ascii("PNG\r\n\x1a\n"),
    ...size,
    ...uint32(0),
    ...uint32(0),
    ...ascii("IDAT"),
  ]);
}

const uint16LittleEndian = (value: number): number[] => [value & 255, value >> 8];
/** Creates a GIF with this size of its screen and of each frame, in pixels. */
function gifOf(screen: number, ...frames: number[]): number[] {
  const drawn = frames.flatMap((side) => [
    ...[0x21, 0xf9, 4, 0, 0, 0, 0, 0],
    ...[
      0x2c,
      0,
      0,
      0,
      0,
      ...uint16LittleEndian(side),
      ...uint16LittleEndian(side),
      0x80,
      1,
      2,
      3,
      4,
      5,
      6,
      2,
      1,
      0,
      0,
    ],
  ]);
  return [
    ...ascii("GIF89a"),
    ...uint16LittleEndian(screen),
    ...uint16LittleEndian(screen),
    0,
    0,
    0,
    ...drawn,
    0x3b,
  ];
}
const gif = base64(gifOf(16, 16));

test("accepts pictures of their declared type", () => {
  expect(safePicture(png(16, 16), "image/png"), "PNG should be accepted").toEqual({
    src: `data:image/png;base64,${png(16, 16)}`,
    pixels: 256,
    animated: false,
  });
  expect(safePicture(gif, "image/gif"), "GIF should be accepted").toHaveProperty("src");
  const broken = png(16, 16).replace(/(.{8})/g, "$1\n");
  expect(
    safePicture(broken, "IMAGE/PNG; a=b"),
    "Base64 on several lines should be accepted",
  ).toHaveProperty("src");
});

test("X19: rejects too many pixels, too many bytes and wrong types before decoding", () => {
  expect(
    safePicture(png(50_000, 50_000), "image/png"),
    "too many pixels should be rejected",
  ).toEqual({
    why: "pixels",
    width: 50_000,
    height: 50_000,
  });
  expect(safePicture("A".repeat(20_000_000), "image/png"), "15 MB should be rejected").toEqual({
    why: "bytes",
  });
  for (const [data, type] of [
    [png(16, 16), "image/jpeg"],
    [gif, "image/png"],
    [base64(ascii("<svg xmlns='http://www.w3.org/2000/svg'/>")), "image/svg+xml"],
    [base64(ascii("<svg/>")), "image/png"],
    [png(16, 16), "text/html"],
    ["%%%", "image/png"],
    ["", "image/png"],
  ] as const) {
    expect(
      safePicture(data, type),
      `${data.slice(0, 20)} declared as ${type} should be rejected`,
    ).toEqual({ why: "type" });
  }
});

test("X19: measures a GIF by its largest frame", () => {
  expect(
    safePicture(base64(gifOf(1, 30_000)), "image/gif"),
    "a large frame should be rejected",
  ).toEqual({
    why: "pixels",
    width: 30_000,
    height: 30_000,
  });
  expect(
    safePicture(base64(gifOf(1, 1, 30_000)), "image/gif"),
    "a later large frame should be rejected",
  ).toHaveProperty("why", "pixels");
  for (const [broken, why] of [
    [gifOf(1, 1).slice(0, -1), "no end"],
    [gifOf(1), "no frame"],
    [[...gifOf(1, 1).slice(0, -1), 0, ...gifOf(1, 30_000).slice(13)], "something between"],
  ] as const) {
    expect(safePicture(base64([...broken]), "image/gif"), why).toEqual({ why: "type" });
  }
});

test("X19: rejects a JPEG with an ambiguous size", () => {
  const size = (side: number) => [
    0xff,
    0xc0,
    0,
    11,
    8,
    ...[side >> 8, side & 255, side >> 8, side & 255],
    1,
    1,
    0x11,
    0,
  ];
  const one = [0xff, 0xd8, ...size(16), 0xff, 0xda];
  expect(
    safePicture(base64(one), "image/jpeg"),
    "a JPEG with one size should be accepted",
  ).toHaveProperty("src");
  for (const mark of [[0xff], [0xff, 0xd0], [0xff, 0x01]]) {
    // A parser that reads a length after this marker skips the true size and finds another one.
    const two = [0xff, 0xd8, ...mark, ...size(50_000), ...Array<number>(65_600).fill(0), ...one];
    expect(
      safePicture(base64(two), "image/jpeg"),
      `a size after ${mark.join()} should be rejected`,
    ).toEqual({ why: "type" });
  }
});

test("X15, X18: accepts only data URLs", () => {
  expect(
    safePictureUrl(`data:image/png;base64,${png(1, 1)}`),
    "a picture should be accepted",
  ).not.toBeNull();
  for (const url of [
    `data:image/png;base64,${png(1_000, 1_000)}`,
    `data:image/gif;base64,${base64(gifOf(1, 1, 1))}`,
    "https://evil.test/a.png",
    "data:image/svg+xml;base64,PHN2Zy8+",
    "data:image/svg+xml,<svg onload=alert(1)>",
    "data:text/html;base64,PHNjcmlwdD4=",
    "blob:https://x/1",
  ]) {
    expect(safePictureUrl(url), url).toBeNull();
  }
});
