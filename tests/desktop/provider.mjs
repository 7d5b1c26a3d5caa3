// Independent mock provider of models (aimock). Accepts one key only, and records its requests.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** API key of the provider. It must only be in requests to the provider. */
export const KEY = "sk-canary-desktop-9e41d7";

const SCRIPT = join(dirname(fileURLToPath(import.meta.url)), "../models/provider.mjs");

export async function startProvider() {
  const env = { ...process.env, PROVIDER_KEY: KEY };
  const provider = spawn(process.execPath, [SCRIPT], { env, stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(createInterface({ input: provider.stdout }), "line");
  const { url } = JSON.parse(line);
  return {
    url,
    /** Returns the bodies of the completion requests that the provider received, in order. */
    async requestBodies() {
      const headers = { authorization: `Bearer ${KEY}` };
      const entries = await (await fetch(`${url}/__aimock/journal`, { headers })).json();
      return entries.map(({ body }) => body).filter((body) => Array.isArray(body?.messages));
    },
    async stop() {
      const ended = once(provider, "exit");
      provider.stdin.end();
      await ended;
    },
  };
}
