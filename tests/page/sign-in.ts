// Authorization server with its MCP server in a child process, and the user who signs in there.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { expect, type Page } from "@playwright/test";

export interface ServerEvent {
  grant?: string;
  resource?: string;
  revoked?: string;
  registered?: string;
  redirects?: string[];
  type?: string;
  failed?: string;
}

export class AuthorizationServer {
  readonly issuer: string;
  /** URL of the MCP server that accepts the tokens. */
  readonly server: string;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, urls: { issuer: string; server: string }) {
    this.#process = process;
    this.issuer = urls.issuer;
    this.server = urls.server;
  }

  static async start(): Promise<AuthorizationServer> {
    const script = join(__dirname, "authorization-server.mjs");
    const process = spawn("node", [script], { stdio: ["pipe", "pipe", "ignore"] });
    const [line] = (await Promise.race([
      once(createInterface({ input: process.stdout! }), "line"),
      once(process, "exit").then(() => [""]),
    ])) as [string];
    if (!line) throw new Error("the authorization server did not start");
    return new AuthorizationServer(process, JSON.parse(line) as { issuer: string; server: string });
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.stdin?.end();
    await ended;
  }

  /** Returns the events of the authorization server in order. */
  async events(): Promise<ServerEvent[]> {
    const response = await fetch(new URL("/test/events", this.server));
    return (await response.json()) as ServerEvent[];
  }

  async count(event: ServerEvent): Promise<number> {
    const fits = (happened: ServerEvent) =>
      Object.entries(event).every(([name, value]) => happened[name as keyof ServerEvent] === value);
    return (await this.events()).filter(fits).length;
  }

  /** Makes the MCP server reject all access tokens that were issued so far. */
  async endAccess(): Promise<void> {
    await fetch(new URL("/test/end-access", this.server), { method: "POST" });
  }
}

/** Signs in as the user `name`, on the pages of the authorization server that start at `url`. */
export async function signInAs(name: string, page: Page, url: string): Promise<void> {
  // The pages load a remote font.
  await page.route(/^https:/, (route) => route.abort());
  await page.goto(url, { waitUntil: "domcontentloaded" });
  await page.getByPlaceholder("Enter any login").fill(name);
  await page.getByPlaceholder("and password").fill("not to be seen");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(page, "the browser should be redirected to this computer").toHaveURL(/^http:\/\/127\.0\.0\.1:\d+\//);
}
