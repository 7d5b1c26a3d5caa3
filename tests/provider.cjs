// Starts `models/provider.mjs`, an independent mock provider of models (aimock), in a child process. A CommonJS module,
// so that the suites `page` and `desktop` can both import it.
const { spawn } = require("node:child_process");
const { once } = require("node:events");
const { join } = require("node:path");
const { createInterface } = require("node:readline");

/**
 * Body of a completion request that the provider has received.
 * @typedef {{
 *   model: string,
 *   messages: { role: string, content: unknown }[],
 *   tools?: { function: { name: string } }[],
 *   max_tokens?: number,
 *   temperature?: number,
 * }} RequestBody
 */

exports.Provider = class Provider {
  /** Address without a path. */
  url = "";
  #key;
  #process;

  /**
   * Starts a provider that accepts only this key.
   * @param {string} key
   */
  static async start(key) {
    const provider = new Provider();
    provider.#key = key;
    provider.#process = spawn(process.execPath, [join(__dirname, "models/provider.mjs")], {
      env: { ...process.env, PROVIDER_KEY: key },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const [line] = await once(createInterface({ input: provider.#process.stdout }), "line");
    provider.url = JSON.parse(line).url;
    return provider;
  }

  /**
   * Adds the provider to a host as `fake`, with its key.
   * @param {{ call(command: string, request: object): Promise<unknown> }} host
   */
  async setUpIn(host) {
    const settings = { name: "Fake", kind: "openai", url: `${this.url}/v1`, conversions: [] };
    await host.call("set_provider", { id: "fake", ...settings });
    await host.call("set_provider_key", { id: "fake", key: this.#key });
  }

  /**
   * Returns the bodies of the completion requests that the provider has received, in order.
   * @returns {Promise<RequestBody[]>}
   */
  async requestBodies() {
    const headers = { authorization: `Bearer ${this.#key}` };
    const entries = await (await fetch(`${this.url}/__aimock/journal`, { headers })).json();
    return entries.map(({ body }) => body).filter((body) => Array.isArray(body?.messages));
  }

  async stop() {
    const ended = this.#process.exitCode === null ? once(this.#process, "exit") : null;
    this.#process.stdin.end();
    await ended;
  }
};
