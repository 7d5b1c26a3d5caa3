// Development host in a child process with separate folders.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";

import { removeFolder, temporaryFolder } from "./temporary";

const ROOT = resolve(__dirname, "../..");
const BINARIES = join(ROOT, "target/debug");
const DIST = process.env.DRAWBRIDGE_PAGE ?? join(ROOT, "ui/dist");
const EXE = process.platform === "win32" ? ".exe" : "";
/** Executable of the demo server. */
export const DEMO = join(BINARIES, `demo-server${EXE}`);
/** Executable of the hostile server. */
export const SCRIPTED = join(BINARIES, `scripted-server${EXE}`);

export interface ServerConfig {
  command: string;
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
}

/** Placeholder in the arguments of a server for the file with the script of the setup. */
export const SCRIPT = "<script>";

export interface Setup {
  /** Servers in mcp.json. Absent for a first start. */
  servers: Record<string, ServerConfig> | null;
  /** Settings of other apps: text by path in the home folder. */
  home?: Record<string, string>;
  /** Address of the registry. By default the official one, which is only contacted by its view. */
  registry?: string;
  /** Contents of the file `SCRIPT`. */
  script?: object;
  /** Servers that are approved and running when the test starts. */
  running: string[];
  theme: "light" | "dark";
  language: "en" | "zh";
}

interface PendingRequest {
  id: string;
  hash: string;
  server: string;
  body: { kind: string };
}
interface Snapshot {
  servers: { name: string; pid: number | null; state: { is: string; message?: string } }[];
  questions: PendingRequest[];
}

export class DevHost {
  readonly folder = temporaryFolder("drawbridge-page-");
  readonly config = join(this.folder, "mcp.json");
  readonly data = join(this.folder, "data");
  /** Folder that is scanned for servers of other apps. */
  readonly home = join(this.folder, "home");
  /** Answers of the system dialogs, and the URLs that the system was requested to open. */
  readonly platform = join(this.folder, "platform");
  url = "";
  #process: ChildProcess | null = null;
  #errors = "";
  #registry: string[] = [];

  static async start(setup: Setup): Promise<DevHost> {
    const host = new DevHost();
    try {
      await host.#start(setup);
    } catch (cause) {
      await host.stop();
      throw cause;
    }
    return host;
  }

  async #start(setup: Setup): Promise<void> {
    for (const folder of [this.data, this.platform, this.home]) mkdirSync(folder);
    for (const [path, text] of Object.entries(setup.home ?? {})) this.writeAtHome(path, text);
    const script = join(this.folder, "script.json");
    if (setup.script) writeFileSync(script, JSON.stringify(setup.script));
    if (setup.servers) {
      const scripted = ([name, server]: [string, ServerConfig]) => {
        const args = server.args?.map((arg) => (arg === SCRIPT ? script : arg));
        return [name, { ...server, args }] as const;
      };
      const mcpServers = Object.fromEntries(Object.entries(setup.servers).map(scripted));
      writeFileSync(this.config, JSON.stringify({ mcpServers }, null, 2));
    }
    const settings = {
      theme: setup.theme,
      language: setup.language,
      welcomeDone: setup.servers !== null,
      announce: true,
    };
    writeFileSync(join(this.data, "settings.json"), JSON.stringify(settings));
    // Sampling is disabled by default. Tests enable it with consent for each request.
    const sampling = Object.keys(setup.servers ?? {}).map((name) => [name, { on: true }]);
    writeFileSync(join(this.data, "sampling.json"), JSON.stringify(Object.fromEntries(sampling)));
    this.#registry = setup.registry ? ["--registry", setup.registry] : [];
    await this.#launch();
    for (const name of setup.running) await this.startApproved(name);
  }

  async #launch(): Promise<void> {
    const args = ["--port", "0", "--config", this.config, "--data-dir", this.data, "--ui", DIST];
    args.push("--platform-dir", this.platform, "--demo-server", DEMO, "--home", this.home, ...this.#registry);
    this.#process = spawn(join(BINARIES, `dev-host${EXE}`), args, { stdio: ["pipe", "pipe", "pipe"] });
    this.#process.stderr?.on("data", (text) => (this.#errors += text));
    const lines = createInterface({ input: this.#process.stdout! });
    const [line] = (await Promise.race([
      once(lines, "line"),
      once(this.#process, "exit").then(() => [""]),
    ])) as [string];
    const url = /^listening on (http:\S+)$/.exec(line)?.[1];
    if (!url) throw new Error(`the development host did not start: ${line} ${this.#errors}`);
    this.url = url;
  }

  /** Ends the host like closing the app, and removes its folders. */
  async stop(): Promise<void> {
    try {
      await this.end();
    } finally {
      removeFolder(this.folder);
    }
  }

  /** Restarts the host with the same folders. The address of the page changes. */
  async restart(): Promise<void> {
    await this.end();
    await this.#launch();
  }

  /** Ends the host like closing the app. Its folders stay. */
  async end(): Promise<void> {
    const process = this.#process;
    // A process that could not be spawned has no id.
    if (process?.pid === undefined || process.exitCode !== null || process.signalCode !== null) return;
    const ended = once(process, "exit").then(() => true);
    process.stdin?.end();
    if (!(await Promise.race([ended, wait(10_000, false)]))) {
      process.kill("SIGKILL");
      throw new Error("the development host did not end within 10 seconds");
    }
  }

  /** Returns the resident memory in bytes. */
  memory(): number {
    const status = readFileSync(`/proc/${this.#process?.pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  }

  /** Returns the log so far. */
  logged(): string {
    return this.#errors;
  }

  async call<T = unknown>(name: string, request: unknown = {}): Promise<T> {
    const response = await fetch(`${this.url}/api/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(request),
    });
    const body = (await response.json()) as T;
    if (!response.ok) throw new Error(`${name}: ${JSON.stringify(body)}`);
    return body;
  }

  snapshot(): Promise<Snapshot> {
    return this.call<Snapshot>("snapshot");
  }

  /** Returns the messages of a server so far. */
  activity(server: string): Promise<{ entries: { method: string | null; sent: boolean }[] }> {
    return this.call("activity", { server, after: null, limit: 500 });
  }

  /** Starts a server without the page, with a permanent approval of its command. */
  async startApproved(name: string): Promise<void> {
    await this.call("start_server", { server: name });
    for (let tries = 0; tries < 300; tries++) {
      const { servers, questions } = await this.snapshot();
      const state = servers.find((server) => server.name === name)?.state;
      if (state?.is === "ready") return;
      if (state?.is === "failed") throw new Error(`${name} failed: ${state.message}`);
      const request = questions.find((q) => q.server === name && q.body.kind === "start_server");
      if (request) await this.answer(request, { action: "allow", scope: "always" });
      await wait(50);
    }
    throw new Error(`${name} was not ready within 15 seconds`);
  }

  /** Resolves to the next consent request of this kind. */
  async consentRequest(kind: string): Promise<PendingRequest> {
    for (let tries = 0; tries < 200; tries++) {
      const { questions } = await this.snapshot();
      const found = questions.find((request) => request.body.kind === kind);
      if (found) return found;
      await wait(50);
    }
    throw new Error(`no question of the kind ${kind} within 10 seconds`);
  }

  /** Decides the next consent request of this kind. */
  async answerNext(kind: string, answer: unknown): Promise<void> {
    await this.answer(await this.consentRequest(kind), answer);
  }

  answer(request: PendingRequest, answer: unknown): Promise<unknown> {
    return this.call("answer_question", { id: request.id, hash: request.hash, answer });
  }

  /** Writes a file of another app. */
  writeAtHome(path: string, text: string): void {
    const file = join(this.home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /** Sets the answer of the next system dialog. */
  setDialogAnswer(what: "pick-folder" | "save-file", path: string): void {
    writeFileSync(join(this.platform, what), path);
  }

  /** Returns the URLs that the system's browser was requested to open. */
  opened(): string[] {
    return this.#lines("opened-urls");
  }

  #lines(name: string): string[] {
    const file = join(this.platform, name);
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  }
}
