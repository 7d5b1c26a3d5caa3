// A conversation of thousands of messages, with answers in Markdown, code, tables, tool calls and pictures.
import { deflateSync } from "node:zlib";

import type { DevHost } from "./dev-host";

/** Number of items in the conversation, and the number of pictures among them. */
export const ITEM_COUNT = 5_000;
export const PICTURE_COUNT = 50;
/** Index of an item that contains unique words, and the words. */
export const UNIQUE_WORDS = { at: 700, words: "the albatross anchorage" };

const WORDS = "the harbour was quiet when first boats came in and nobody on quay had seen tide table for that week".split(" ");

/** Returns a deterministic pseudorandom number generator. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
}

function sentence(random: () => number): string {
  const words = Array.from({ length: 6 + Math.floor(random() * 14) }, () => WORDS[Math.floor(random() * WORDS.length)]);
  return `${words.join(" ")}.`;
}

/** Returns Markdown similar to answers of models: sections with a heading, text, a list, code and a table. */
export function markdown(sections: number, seed = 1): string {
  const random = numbers(seed);
  const code = () =>
    Array.from({ length: 12 }, (_, n) => `  const tide${n} = await table.read("${sentence(random)}", ${n}); // ${n % 3}`);
  const rows = () => Array.from({ length: 6 }, (_, n) => `| ${n}:00 | ${(random() * 4).toFixed(2)} m | ${sentence(random)} |`);
  return Array.from({ length: sections }, (_, n) =>
    [
      `## Part ${n + 1}: ${sentence(random)}`,
      `${sentence(random)} **${sentence(random)}** ${sentence(random)} \`tide(${n})\` [a chart](https://charts.example/${n}).`,
      `- ${sentence(random)}\n- ${sentence(random)}\n  - ${sentence(random)}\n- ${sentence(random)}`,
      `\`\`\`typescript\nexport async function part${n}(table: Table): Promise<void> {\n${code().join("\n")}\n}\n\`\`\``,
      `| Time | Height | Remark |\n| ---- | -----: | ------ |\n${rows().join("\n")}`,
      sentence(random),
    ].join("\n\n"),
  ).join("\n\n");
}

/** Returns a PNG of `width` by `height` random pixels in base64. */
export function picture(width: number, height: number, seed: number): string {
  const random = numbers(seed);
  const rows = Buffer.alloc((width * 3 + 1) * height);
  for (let at = 0; at < rows.length; at++) rows[at] = at % (width * 3 + 1) === 0 ? 0 : random() * 256;
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const parts = [part("IHDR", head), part("IDAT", deflateSync(rows, { level: 1 })), part("IEND", Buffer.alloc(0))];
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]), ...parts]).toString("base64");
}

function part(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name), data]);
  const chunk = Buffer.alloc(data.length + 12);
  chunk.writeUInt32BE(data.length, 0);
  named.copy(chunk, 4);
  chunk.writeUInt32BE(crc(named), data.length + 8);
  return chunk;
}

function crc(data: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of data) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}

const PICTURE_INTERVAL = ITEM_COUNT / PICTURE_COUNT;

function body(n: number, random: () => number): unknown {
  const message = (role: "user" | "assistant", content: unknown[]) => ({ kind: "message", role, content, prompt: null });
  if (n === UNIQUE_WORDS.at) return message("user", [{ type: "text", text: `We met at ${UNIQUE_WORDS.words}.` }]);
  if (n % PICTURE_INTERVAL === PICTURE_INTERVAL / 2) {
    const data = picture(240, 160, n);
    return message("assistant", [{ type: "image", data, mimeType: "image/png" }]);
  }
  switch (n % 4) {
    case 0:
      return message("user", [{ type: "text", text: `Question ${n}: ${sentence(random)}` }]);
    case 1:
      return {
        ...{ kind: "tool_call", call: `call-${n}`, server: "harbour", tool: "tide_report", took: 120, error: null },
        arguments: { harbour: "Bergen", number: n },
        result: {
          content: [{ type: "text", text: `${sentence(random)} ${sentence(random)}` }],
          ...{ structured: null, structuredProblem: null, isError: false, arguments: {} },
        },
      };
    case 2:
      return message("assistant", [{ type: "text", text: `Answer ${n}. ${sentence(random)}\n\n${markdown(1, n)}` }]);
    default:
      return message("assistant", [{ type: "text", text: `Answer ${n}. ${sentence(random)} ${sentence(random)}` }]);
  }
}

/** Adds the conversation to the history through the API. Returns its id. */
export async function longConversation(host: DevHost, title: string, count = ITEM_COUNT): Promise<string> {
  const { id } = await host.call<{ id: string }>("create_conversation", { title });
  const random = numbers(7);
  const startTime = Date.now() - count * 60_000;
  for (let at = 0; at < count; at += PICTURE_INTERVAL) {
    const items = Array.from({ length: Math.min(PICTURE_INTERVAL, count - at) }, (_, n) => ({
      id: `item-${at + n}`,
      at: startTime + (at + n) * 60_000,
      body: body(at + n, random),
    }));
    await host.call("append_items", { conversation: id, items });
  }
  return id;
}
