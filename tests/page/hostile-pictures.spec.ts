// Icons, pictures and audio with wrong types, large sizes or remote addresses (X18, X19, S12).
import { deflateSync } from "node:zlib";

import { expect } from "@playwright/test";

import { attack, show, tool } from "./attack";
import { test, visit } from "./fixtures";

const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>fetch("/x")</script></svg>').toString("base64");

/** Returns a PNG chunk with an invalid checksum. Rejected files must not be decoded, so it does not matter. */
function part(name: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.length);
  head.write(name, 4, "latin1");
  return Buffer.concat([head, data, Buffer.alloc(4)]);
}

/** Returns a black PNG of `side` by `side` pixels with one bit per pixel: a small file that is large when decoded. */
function png(side: number): Buffer {
  const size = Buffer.alloc(13);
  size.writeUInt32BE(side);
  size.writeUInt32BE(side, 4);
  size[8] = 1;
  const rows = deflateSync(Buffer.alloc(Math.min(side, 5_000) * (1 + Math.ceil(side / 8))));
  return Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), part("IHDR", size), part("IDAT", rows), part("IEND", Buffer.alloc(0))]);
}

/**
 * Returns a GIF with a screen of one pixel and a frame of `side` by `side` pixels, which browser engines render
 * completely.
 */
function gif(side: number): Buffer {
  const frame = Buffer.from([0x2c, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 1, 2, 3, 4, 5, 6, 2, 1, 0, 0]);
  frame.writeUInt16LE(side, 5);
  frame.writeUInt16LE(side, 7);
  return Buffer.concat([Buffer.from("GIF89a"), Buffer.from([1, 0, 1, 0, 0, 0, 0]), frame, Buffer.from([0x3b])]);
}

test("X18 an icon fetches nothing and renders no script", async ({ page }) => {
  const what = "X18, icons: a drawing with a script, other origins, redirects, 100 MB claimed, a film";
  const responses = (url: string) => {
    const sources = [
      `data:image/svg+xml;base64,${SVG}`,
      `${url}/icon.png`,
      "http://host.test/redirect.png",
      "file:///etc/passwd",
      `data:image/png;base64,${png(50_000).toString("base64").slice(0, 50_000)}`,
      `data:image/gif;base64,${Buffer.from("GIF89a\u0001\u0000\u0001\u0000").toString("base64")}`,
      `data:image/png;base64,${"A".repeat(1_000_000)}`,
    ];
    const tools = sources.map((src, number) => ({
      name: `tool-${number}`,
      inputSchema: { type: "object" },
      icons: [{ src, mimeType: "image/png", sizes: ["any"] }],
    }));
    return { reply: { "tools/list": { tools } } };
  };
  await attack(page, what, responses, async ({ app, hits }) => {
    await visit(app, "#/server/bad/tools");
    await expect(app.getByRole("main").getByText("tool-6").first()).toBeVisible();
    await expect(app.locator("img"), `${what}: each tool should have a plain icon`).toHaveCount(0);
    expect(hits(), `${what}: nothing should be fetched`).toBe(0);
  });
});

test("X19 mislabeled pictures are replaced by a note", async ({ page }) => {
  const what = "X19, pictures: 50,000 pixels square, a GIF larger than its screen, other types than claimed, broken, 11 MB";
  const image = (data: string, mimeType = "image/png") => ({ type: "image", data, mimeType });
  const content = [
    image(png(50_000).toString("base64")),
    image(Buffer.from("<html><script>1</script>").toString("base64")),
    image(SVG, "image/svg+xml"),
    image("not base64 at all!"),
    image(`iVBORw0KGgo${"A".repeat(11_000_000)}`),
    image(gif(30_000).toString("base64"), "image/gif"),
  ];
  const responses = () => ({ reply: { "tools/list": tool(), "tools/call": { content } } });
  await attack(page, what, responses, async ({ app }) => {
    await show(app);
    const result = app.getByTestId("tool-result");
    await expect(result.locator("figure"), `${what}: each picture should have a figure`).toHaveCount(content.length);
    await expect(result.locator("img"), `${what}: no picture should be rendered`).toHaveCount(0);
  });
});

test("S12 mislabeled audio is replaced by a note", async ({ page }) => {
  const what = "S12, audio: a page, a playlist with addresses, a film, another format than declared";
  await attack(
    page,
    what,
    (url: string) => {
      const audio = (text: string, mimeType: string) => ({ type: "audio", data: Buffer.from(text, "latin1").toString("base64"), mimeType });
      const content = [
        audio("<html><script>1</script></html>", "audio/wav"),
        audio(`#EXTM3U\n${url}/a.ts`, "audio/mpeg"),
        audio(`[playlist]\nFile1=${url}/b.mp3`, "audio/ogg"),
        audio("\0\0\0\x18ftypqt  \0\0\0\0", "audio/mp4"),
        audio("OggS\0\x02", "audio/wav"),
      ];
      return { reply: { "tools/list": tool(), "tools/call": { content } } };
    },
    async ({ app, hits }) => {
      await show(app);
      const result = app.getByTestId("tool-result");
      await expect(result.getByText("audio/mp4"), `${what}: the note should name the type`).toBeVisible();
      await expect(result.locator("audio"), `${what}: no player should be rendered`).toHaveCount(0);
      expect(hits(), `${what}: nothing should be fetched`).toBe(0);
    },
  );
});
