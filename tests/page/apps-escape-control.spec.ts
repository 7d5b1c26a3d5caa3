// Control of the escape suite: most attempts succeed in a frame without isolation, so that the suite can fail.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";

import { type Page, expect, test } from "@playwright/test";

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
/** Number of times that the attempts run at most. An attempt has one second, which a busy computer may use up. */
const MAX_ATTEMPT_ROUNDS = 3;

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

/** Runs all attempts once in a new page. Returns the cells of their rows: number, name, outcome, error. */
async function runAttempts(page: Page, address: string): Promise<string[][]> {
  await page.goto(address);
  const frame = page.frameLocator("iframe");
  await frame.getByRole("button", { name: "Start" }).click();
  await expect(frame.locator("#results")).toHaveAttribute("data-state", "done", { timeout: 150_000 });
  return frame
    .locator("#results tbody tr")
    .evaluateAll((rows) => rows.map((row) => [...(row as HTMLTableRowElement).cells].map((cell) => cell.innerText)));
}

test("without isolation, most attempts to escape succeed", async ({ page }) => {
  test.setTimeout(MAX_ATTEMPT_ROUNDS * 180_000);
  const server = new EscapeServer();
  const { contents } = await server.call<{ contents: [{ text: string }] }>("resources/read");
  const pages = createServer(({ url }, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(url === "/app" ? contents[0].text : url === "/" ? EMBEDDING_PAGE : "");
  }).listen(0, "127.0.0.1");
  try {
    await once(pages, "listening");
    page.on("dialog", (dialog) => void dialog.accept("given"));
    const address = `http://127.0.0.1:${(pages.address() as AddressInfo).port}/`;
    const open = new Set<string>();
    let rows: string[][] = [];
    // The attempts that stay closed need devices or the desktop's web view.
    for (let round = 0; round < MAX_ATTEMPT_ROUNDS && open.size <= rows.length / 2; round += 1) {
      rows = await runAttempts(page, address);
      const call = { name: "connections", arguments: {} };
      const { structuredContent } = await server.call<{ structuredContent: { connections: string[] } }>("tools/call", call);
      const isSeen = (number: string) => structuredContent.connections.some((line) => line.includes(`/${number} `));
      for (const [number = "", , outcome] of rows) if (outcome !== "closed" || isSeen(number)) open.add(number);
    }
    const closed = rows.filter(([number = ""]) => !open.has(number)).map(([number, name, , error]) => [number, name, error]);
    expect(open.size, `these attempts reach nothing: ${JSON.stringify(closed)}`).toBeGreaterThan(rows.length / 2);
    expect(rows.filter(([, , outcome]) => outcome === "mistaken"), "no attempt should have a mistake").toEqual([]);
  } finally {
    pages.close();
    server.stop();
  }
});
