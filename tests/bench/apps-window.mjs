// Development host with one running server, and Chromium with its page, for measurements of apps.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";

import { chromium } from "@playwright/test";

const NO_GRANTS = { declaredOrigins: false, loopback: false, everyHost: false, permissions: [] };
/** Time in milliseconds that the model takes to write the arguments of a call. */
const CALL_WRITING_TIME_MS = 500;
/** Flags of the tests of the page. */
const BROWSER_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"];

export class AppWindow {
  /** Id of the process of the host, and of the browser's main process. */
  hostPid = 0;
  browserPid = 0;
  page = null;
  #url = "";
  #folder = mkdtempSync(join(tmpdir(), "drawbridge-apps-"));
  #host = null;
  #server = null;
  #browser = null;

  /** Starts the host with a server named `harbour`, whose `tool` and app are approved, and opens its page. */
  static async open({ devHost, page, command, args, tool }) {
    const window = new AppWindow();
    try {
      await window.#startHost(devHost, page, { command, args });
      await window.#approve(tool);
      await window.#openPage();
    } catch (cause) {
      await window.close();
      throw cause;
    }
    return window;
  }

  async call(name, request = {}) {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify(request);
    const response = await fetch(`${this.#url}/api/${name}`, { method: "POST", headers, body });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${name}: ${JSON.stringify(answer)}`);
    return answer;
  }

  /** Shows a view of the page. */
  visit(hash) {
    return this.page.evaluate((to) => (location.hash = to), hash);
  }

  async close() {
    await this.#browser?.close();
    await this.#server?.close();
    if (this.#host && this.#host.exitCode === null) {
      this.#host.stdin.end();
      await once(this.#host, "exit");
    }
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  async #startHost(devHost, page, server) {
    const place = (name) => join(this.#folder, name);
    for (const name of ["data", "home", "platform"]) mkdirSync(place(name));
    writeFileSync(place("mcp.json"), JSON.stringify({ mcpServers: { harbour: server } }));
    const settings = { theme: "light", language: "en", welcomeDone: true, announce: true };
    writeFileSync(place("data/settings.json"), JSON.stringify(settings));
    const options = { port: "0", config: place("mcp.json"), "data-dir": place("data"), ui: page };
    Object.assign(options, { "platform-dir": place("platform"), home: place("home") });
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
    this.#host = spawn(devHost, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.hostPid = this.#host.pid;
    const [line] = await once(createInterface({ input: this.#host.stdout }), "line");
    this.#url = /^listening on (http:\S+)$/.exec(line)[1];
  }

  async #approve(tool) {
    await this.call("start_server", { server: "harbour" });
    await this.#allow("start_server", "always");
    await until(`the tool ${tool}`, async () => {
      const { tools } = await this.call("read_catalog", { server: "harbour" });
      return tools.some(({ name }) => name === tool);
    });
    const called = this.call("call_tool", { call: "first", server: "harbour", tool, arguments: {} });
    await this.#allow("tool", "session");
    await called;
    const { hash } = await this.call("read_app_page", { server: "harbour", tool });
    await this.call("approve_app", { server: "harbour", tool, hash, grants: NO_GRANTS });
  }

  /** Allows the next consent request of this kind. */
  async #allow(kind, scope) {
    const next = async () => (await this.call("read_snapshot")).consentRequests.find(({ body }) => body.kind === kind);
    const { id, hash } = await until(`a consent request of the kind ${kind}`, next);
    await this.call("decide_consent_request", { id, hash, answer: { action: "allow", scope } });
  }

  async #openPage() {
    const executablePath = process.env.CHROMIUM || undefined;
    this.#server = await chromium.launchServer({ executablePath, args: BROWSER_FLAGS });
    this.browserPid = this.#server.process().pid;
    this.#browser = await chromium.connect(this.#server.wsEndpoint());
    this.page = await this.#browser.newPage({ viewport: { width: 1180, height: 780 } });
    await this.page.goto(this.#url);
    await this.page.getByRole("banner").waitFor();
  }
}

/** Provider of models in the format of OpenAI. Its model calls `tool` once for each message of the user. */
export async function startProvider(tool) {
  const server = createServer(async (request, response) => {
    if (request.method === "GET") {
      response.setHeader("content-type", "application/json");
      return response.end(JSON.stringify({ object: "list", data: [{ id: "caller", object: "model" }] }));
    }
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { messages, tools = [] } = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (delta, finish_reason = null) => {
      const chunk = { id: "c1", object: "chat.completion.chunk", created: 1, model: "caller" };
      response.write(`data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
    };
    const name = tools.map(({ function: { name } }) => name).find((name) => name.endsWith(tool));
    if (messages.at(-1).role === "tool" || name === undefined) {
      send({ role: "assistant", content: "Done." });
      send({}, "stop");
    } else {
      const call = { id: `call_${messages.length}`, type: "function", function: { name, arguments: "{" } };
      send({ role: "assistant", tool_calls: [{ index: 0, ...call }] });
      await wait(CALL_WRITING_TIME_MS);
      send({ tool_calls: [{ index: 0, function: { arguments: "}" } }] });
      send({}, "tool_calls");
    }
    response.end("data: [DONE]\n\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = () => (server.closeAllConnections(), server.close());
  return { url: `http://127.0.0.1:${server.address().port}/v1`, stop };
}

/** Waits until `find` returns a value. */
export async function until(what, find) {
  for (const end = Date.now() + 30_000; Date.now() < end; await wait(50)) {
    const found = await find();
    if (found) return found;
  }
  throw new Error(`waited 30 s for ${what}`);
}

/** Returns the ids of a process and of all processes that it started. */
export function processTree(root) {
  const children = new Map();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      // The name of the program is in parentheses and can contain spaces.
      const parent = Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ")[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(pid)]);
    } catch {
      // The process ended in the meantime.
    }
  }
  const found = [root];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

/** Returns the proportional set size of these processes together, in MiB. */
export function memory(pids) {
  const sizes = pids.map((pid) => {
    try {
      return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))[1]);
    } catch {
      return 0;
    }
  });
  return sizes.reduce((sum, size) => sum + size, 0) / 1024;
}
