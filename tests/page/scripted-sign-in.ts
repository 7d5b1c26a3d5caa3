// Scripted authorization server and its MCP server in a child process. Every sign-in succeeds at once.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const EXE = process.platform === "win32" ? ".exe" : "";
const PROGRAM = join(resolve(__dirname, "../.."), `target/debug/authorization-server${EXE}`);

export class ScriptedSignIn {
  readonly issuer: string;
  /** URL of the MCP server that accepts the tokens. */
  readonly server: string;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, urls: { issuer: string; server: string }) {
    this.#process = process;
    this.issuer = urls.issuer;
    this.server = urls.server;
  }

  /** Starts both servers. Options that are omitted have valid defaults. */
  static async start(authorization: object = {}, mcp: object = {}): Promise<ScriptedSignIn> {
    const scripts = [JSON.stringify(authorization), JSON.stringify(mcp)];
    const process = spawn(PROGRAM, scripts, { stdio: ["pipe", "pipe", "ignore"] });
    const [line] = (await Promise.race([
      once(createInterface({ input: process.stdout! }), "line"),
      once(process, "exit").then(() => [""]),
    ])) as [string];
    if (!line) throw new Error("the scripted authorization server did not start");
    return new ScriptedSignIn(process, JSON.parse(line) as { issuer: string; server: string });
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.stdin?.end();
    await ended;
  }
}

/** Opens the sign-in page and returns the URL that it redirects to. */
export async function redirectUrl(page: string): Promise<string> {
  const response = await fetch(page, { redirect: "manual" });
  const location = response.headers.get("location");
  if (!location) throw new Error(`${page} responded with ${response.status} and no redirect`);
  return location;
}
