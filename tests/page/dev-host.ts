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
/** Path of the demo server's executable. */
export const DEMO = join(BINARIES, `demo-server${EXE}`);
/** Path of the scripted server's executable, which simulates hostile servers. */
export const SCRIPTED = join(BINARIES, `scripted-server${EXE}`);

export interface ServerConfig {
  command: string;
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
}

/** Placeholder in the arguments of a server. It is replaced by the path of the file with the script of the setup. */
export const SCRIPT = "<script>";

export interface Setup {
  /** Servers in mcp.json by name. `null` for a first start without the file. */
  servers: Record<string, ServerConfig> | null;
  /** Settings files of other apps: content by path in the home folder. */
  home?: Record<string, string>;
  /** URL of the registry. Defaults to the official one, which only the registry view contacts. */
  registry?: string;
  /** Content of the script file whose path replaces `SCRIPT`. */
  script?: object;
  /** Names of the servers that are approved and started before the test. */
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
  consentRequests: PendingRequest[];
}

export class DevHost {
  readonly folder = temporaryFolder("drawbridge-page-");
  readonly config = join(this.folder, "mcp.json");
  readonly data = join(this.folder, "data");
  /** Home folder, in which servers of other apps are searched for. */
  readonly home = join(this.folder, "home");
  /** Folder with the answers of the system dialogs, and with the URLs that the app has opened. */
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

  /** Ends the host like closing the app does, and removes its folders. */
  async stop(): Promise<void> {
    try {
      await this.end();
    } finally {
      removeFolder(this.folder);
    }
  }

  /** Restarts the host with the same folders. The URL of the page changes. */
  async restart(): Promise<void> {
    await this.end();
    await this.#launch();
  }

  /** Ends the host like closing the app does, and keeps its folders. */
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

  /** Returns the resident memory of the host in bytes. */
  memory(): number {
    const status = readFileSync(`/proc/${this.#process?.pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  }

  /** Returns the log of the host so far. */
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
    return this.call<Snapshot>("read_snapshot");
  }

  /** Returns the activity log of a server so far. */
  activity(server: string): Promise<{ entries: { method: string | null; sent: boolean }[] }> {
    return this.call("read_activity", { server, after: null, limit: 500 });
  }

  /** Starts a server through the API, with a permanent approval of its command. */
  async startApproved(name: string): Promise<void> {
    await this.call("start_server", { server: name });
    for (let tries = 0; tries < 300; tries++) {
      const { servers, consentRequests } = await this.snapshot();
      const state = servers.find((server) => server.name === name)?.state;
      if (state?.is === "ready") return;
      if (state?.is === "failed") throw new Error(`${name} failed: ${state.message}`);
      const request = consentRequests.find((one) => one.server === name && one.body.kind === "start_server");
      if (request) await this.answer(request, { action: "allow", scope: "always" });
      await wait(50);
    }
    throw new Error(`${name} was not ready within 15 seconds`);
  }

  /** Waits for a consent request of this kind. */
  async consentRequest(kind: string): Promise<PendingRequest> {
    for (let tries = 0; tries < 200; tries++) {
      const { consentRequests } = await this.snapshot();
      const found = consentRequests.find((request) => request.body.kind === kind);
      if (found) return found;
      await wait(50);
    }
    throw new Error(`no consent request of the kind ${kind} within 10 seconds`);
  }

  /** Waits for a consent request of this kind, and decides it. */
  async answerNext(kind: string, answer: unknown): Promise<void> {
    await this.answer(await this.consentRequest(kind), answer);
  }

  answer(request: PendingRequest, answer: unknown): Promise<unknown> {
    return this.call("decide_consent_request", { id: request.id, hash: request.hash, answer });
  }

  /** Writes a settings file of another app to the home folder. */
  writeAtHome(path: string, text: string): void {
    const file = join(this.home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /** Sets the answer that the next system dialog of this kind returns. */
  setDialogAnswer(what: "pick-folder" | "save-file", path: string): void {
    writeFileSync(join(this.platform, what), path);
  }

  /** Returns the URLs that the app has opened in the system's browser. */
  opened(): string[] {
    return this.#lines("opened-urls");
  }

  #lines(name: string): string[] {
    const file = join(this.platform, name);
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  }
}
