// Independent mock provider of models (aimock) in a child process.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

import type { DevHost } from "./dev-host";

/** Request that the provider has received. */
export interface ReceivedRequest {
  body: {
    messages: { role: string; content: unknown }[];
    tools?: { function: { name: string } }[];
    max_tokens?: number;
    temperature?: number;
  };
}

export class Provider {
  url = "";
  readonly #key: string;
  #process!: ChildProcess;

  private constructor(key: string) {
    this.#key = key;
  }

  /** Starts a provider that accepts only this key. */
  static async start(key: string): Promise<Provider> {
    const provider = new Provider(key);
    const script = join(__dirname, "../models/provider.mjs");
    provider.#process = spawn(process.execPath, [script], {
      env: { ...process.env, PROVIDER_KEY: key },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const lines = createInterface({ input: provider.#process.stdout! });
    const [line] = (await once(lines, "line")) as [string];
    provider.url = (JSON.parse(line) as { url: string }).url;
    return provider;
  }

  /** Adds the provider to a host as `fake`, with its key. */
  async setUpIn(host: DevHost): Promise<void> {
    const settings = { name: "Fake", kind: "openai", url: `${this.url}/v1` };
    await host.call("set_provider", {
      id: "fake",
      conversions: [],
      ...settings,
    });
    await host.call("set_provider_key", { id: "fake", key: this.#key });
  }

  /** Returns the requests that the provider has received so far. */
  async requests(): Promise<ReceivedRequest[]> {
    const headers = { authorization: `Bearer ${this.#key}` };
    const answer = await fetch(`${this.url}/v1/_requests`, { headers });
    const all = (await answer.json()) as ReceivedRequest[] | { requests: ReceivedRequest[] };
    const list = Array.isArray(all) ? all : all.requests;
    return list.filter(({ body }) => Array.isArray(body?.messages));
  }

  async stop(): Promise<void> {
    this.#process.stdin?.end();
    if (this.#process.exitCode === null) await once(this.#process, "exit");
  }
}
