// App on the official SDK: its pages, its server, and what happens in it.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

import type { ConsoleMessage, Page } from "@playwright/test";
import { buildSync } from "esbuild";

import { type DevHost, SCRIPT, type Setup } from "./dev-host";

const FOLDER = resolve(__dirname, "../apps/sdk");
const SERVER = join(FOLDER, "server.mjs");
const PRINTED = "message ";

/** Returns the script of a page with everything that it imports. */
function bundled(file: string): string {
  const options = { bundle: true, write: false, format: "esm", platform: "browser", legalComments: "none" } as const;
  const { outputFiles } = buildSync({ entryPoints: [join(FOLDER, file)], ...options });
  return outputFiles[0]!.text;
}

const page = (body: string, file: string) =>
  `<!doctype html><meta charset="utf-8"><title>Tides</title>${body}<script type="module">${bundled(file)}</script>`;

/** Returns a setup with a server whose tool `show_tides` has an app on the class `App` of the official SDK. */
export function sdkApp(): Setup {
  const harbour = { command: process.execPath, args: [SERVER, SCRIPT] };
  const script = {
    html: page(`<h1>Tides</h1><p id="outcome"></p><ol id="received"></ol>`, "app.mjs"),
    host: page(`<iframe sandbox="allow-scripts" title="App"></iframe>`, "plain-host.mjs"),
  };
  return { servers: { harbour }, script, running: ["harbour"], theme: "light", language: "en" };
}

/** Server of a page with the same app, which is a host on the class `AppBridge` of the official SDK. */
export class PlainHost {
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(url: string, process: ChildProcess) {
    this.url = url;
    this.#process = process;
  }

  /** Serves the pages of the setup with which `host` was started. */
  static async start(host: DevHost): Promise<PlainHost> {
    const args = [SERVER, join(host.folder, "script.json"), "http"];
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout! });
    const ended = once(child, "exit").then(() => [""]);
    const [url] = (await Promise.race([once(lines, "line"), ended])) as [string];
    if (!URL.canParse(url)) throw new Error(`the server of the plain host did not start: ${url}`);
    return new PlainHost(url, child);
  }

  async stop(): Promise<void> {
    this.#process.stdin?.end();
    if (this.#process.exitCode === null) await once(this.#process, "exit");
  }
}

/** Records what the app prints from now on: the messages of app and host, and `saved` at its teardown. */
export function recordPrinted(page: Page): string[] {
  const printed: string[] = [];
  page.on("console", (message: ConsoleMessage) => {
    const text = message.text();
    if (text.startsWith(PRINTED)) printed.push(text.slice(PRINTED.length));
    else if (text === "saved") printed.push(text);
  });
  return printed;
}

/**
 * Returns the messages that do not depend on the host's layout and on the pace of a model: one partial input for
 * several, and only those changes of the context that concern the display mode.
 */
export function comparable(printed: readonly string[]): string[] {
  const CONTEXT = "host: notification ui/notifications/host-context-changed with ";
  const relevant = printed.flatMap((line) => {
    if (!line.startsWith(CONTEXT)) return [line];
    return line.slice(CONTEXT.length).split(" ").includes("displayMode") ? [`${CONTEXT}displayMode`] : [];
  });
  return relevant.filter((line, at) => !(line.endsWith("/tool-input-partial") && line === relevant[at - 1]));
}
