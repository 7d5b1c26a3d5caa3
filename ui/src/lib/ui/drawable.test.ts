import { expect, test } from "vitest";

import { drawable, drawableUrl } from "./drawable";

const big = (value: number): number[] => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255);
const text = (words: string): number[] => Array.from(words, (c) => c.charCodeAt(0));
const base64 = (bytes: number[]): string => btoa(String.fromCharCode(...bytes));

function png(width: number, height: number): string {
  const size = [...big(13), ...text("IHDR"), ...big(width), ...big(height), 8, 6, 0, 0, 0];
  return base64([0x89, ...text("PNG\r\n\x1a\n"), ...size, ...big(0), ...big(0), ...text("IDAT")]);
}

const gif = base64([...text("GIF89a"), 16, 0, 16, 0, 0, 0, 0]);

test("pictures that are what they claim to be are drawn", () => {
  expect(drawable(png(16, 16), "image/png"), "PNG").toEqual({
    src: `data:image/png;base64,${png(16, 16)}`,
  });
  expect(drawable(gif, "image/gif"), "GIF").toHaveProperty("src");
  const broken = png(16, 16).replace(/(.{8})/g, "$1\n");
  expect(drawable(broken, "IMAGE/PNG; a=b"), "Base64 on several lines").toHaveProperty("src");
});

test("X19: too many pixels, too many bytes, and lies about the type are refused before anything is decoded", () => {
  expect(drawable(png(50_000, 50_000), "image/png"), "a bomb").toEqual({
    why: "pixels",
    width: 50_000,
    height: 50_000,
  });
  expect(drawable("A".repeat(20_000_000), "image/png"), "15 MB").toEqual({ why: "bytes" });
  for (const [data, type] of [
    [png(16, 16), "image/jpeg"],
    [gif, "image/png"],
    [base64(text("<svg xmlns='http://www.w3.org/2000/svg'/>")), "image/svg+xml"],
    [base64(text("<svg/>")), "image/png"],
    [png(16, 16), "text/html"],
    ["%%%", "image/png"],
    ["", "image/png"],
  ] as const) {
    expect(drawable(data, type), `${data.slice(0, 20)} as ${type}`).toEqual({ why: "type" });
  }
});

test("X15, X18: of addresses only those that are pictures themselves", () => {
  expect(drawableUrl(`data:image/png;base64,${png(1, 1)}`), "a picture").not.toBeNull();
  for (const url of [
    "https://evil.test/a.png",
    "data:image/svg+xml;base64,PHN2Zy8+",
    "data:image/svg+xml,<svg onload=alert(1)>",
    "data:text/html;base64,PHNjcmlwdD4=",
    "blob:https://x/1",
  ]) {
    expect(drawableUrl(url), url).toBeNull();
  }
});
