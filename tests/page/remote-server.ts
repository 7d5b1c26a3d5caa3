// Demo server over HTTP, which can be stopped and restarted on the same port.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

import { DEMO } from "./dev-host";

export class RemoteServer {
  url = "";
  #process!: ChildProcess;
  readonly #era: "legacy" | "modern";

  private constructor(era: "legacy" | "modern") {
    this.#era = era;
  }

  static async start(era: "legacy" | "modern"): Promise<RemoteServer> {
    const server = new RemoteServer(era);
    await server.start(0);
    return server;
  }

  /** Starts the server on this port. 0 selects any free port. */
  async start(port = Number(new URL(this.url).port)): Promise<void> {
    const args = ["--era", this.#era, "--http", String(port)];
    this.#process = spawn(DEMO, args, { stdio: ["ignore", "pipe", "ignore"] });
    const [line] = (await once(createInterface({ input: this.#process.stdout! }), "line")) as [string];
    if (!URL.canParse(line)) throw new Error(`the demo server printed no address: ${line}`);
    this.url = `${new URL(line).origin}/mcp`;
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await ended;
  }
}
