// Control of the escape suite: most attempts succeed in a frame without isolation, so that the suite can fail.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";

import { expect, test } from "@playwright/test";

/** Page that embeds the app from its own origin, and initializes it like a host. */
const EMBEDDING_PAGE = `<!doctype html><title>Host</title><script>
  localStorage.setItem("own", "1");
  document.cookie = "own=1";
  addEventListener("message", ({ source, data }) => {
    if (data.cmd) source.postMessage({ reply: true }, "*");
    if (data.method === "ui/initialize") source.postMessage({ jsonrpc: "2.0", id: data.id, result: {} }, "*");
    if (data.method !== "ui/notifications/initialized") return;
    source.postMessage({ jsonrpc: "2.0", method: "ui/notifications/tool-input", params: { arguments: {} } }, "*");
  });
</script><iframe src="/app" style="width: 900px; height: 600px"></iframe>`;
/** Number of attempts that succeed without isolation at least. The others need devices or the desktop's web view. */
const MANY_OPEN = 80;

/** The escape server in a child process, called without a host. */
class EscapeServer {
  readonly #process: ChildProcess;
  readonly #lines: Interface;

  constructor() {
    this.#process = spawn(process.execPath, [join(__dirname, "../apps/server.mjs")], { stdio: ["pipe", "pipe", "inherit"] });
    this.#lines = createInterface({ input: this.#process.stdout! });
  }

  /** Sends a request and returns its result. */
  async call<T>(method: string, params: object = {}): Promise<T> {
    const received = once(this.#lines, "line");
    this.#process.stdin!.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })}\n`);
    const [line] = (await received) as [string];
    return (JSON.parse(line) as { result: T }).result;
  }

  stop(): void {
    this.#process.stdin!.end();
  }
}

test("without isolation, most attempts to escape succeed", async ({ page }) => {
  test.setTimeout(180_000);
  const server = new EscapeServer();
  const { contents } = await server.call<{ contents: [{ text: string }] }>("resources/read");
  const pages = createServer(({ url }, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(url === "/app" ? contents[0].text : url === "/" ? EMBEDDING_PAGE : "");
  }).listen(0, "127.0.0.1");
  try {
    await once(pages, "listening");
    page.on("dialog", (dialog) => void dialog.accept("given"));
    await page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`);
    const frame = page.frameLocator("iframe");
    await frame.getByRole("button", { name: "Start" }).click();
    await expect(frame.locator("#results")).toHaveAttribute("data-state", "done", { timeout: 150_000 });
    const rows = await frame
      .locator("#results tbody tr")
      .evaluateAll((found) => found.map((row) => [...(row as HTMLTableRowElement).cells].map((cell) => cell.innerText)));
    const call = { name: "connections", arguments: {} };
    const { structuredContent } = await server.call<{ structuredContent: { connections: string[] } }>("tools/call", call);
    const isSeen = (number: string) => structuredContent.connections.some((line) => line.includes(`/${number} `));
    const open = rows.filter(([number = "", , outcome]) => outcome !== "closed" || isSeen(number));
    expect(open.length, "these attempts should reach something").toBeGreaterThan(MANY_OPEN);
    expect(rows.filter(([, , outcome]) => outcome === "mistaken"), "no attempt should have a mistake").toEqual([]);
  } finally {
    pages.close();
    server.stop();
  }
});
