// A registry of servers (API version 0.1) on loopback, which lists what a test says.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

const OFFICIAL = "io.modelcontextprotocol.registry/official";

/** An entry of the registry. */
export interface Entry {
  server: { name: string; version: string } & Record<string, unknown>;
  _meta: Record<string, unknown>;
}

/** A version of a server, and what the registry says of it. */
export function entry(server: Entry["server"], listing: Record<string, unknown> = {}): Entry {
  const said = { status: "active", isLatest: true, publishedAt: "2026-02-01T00:00:00Z", ...listing };
  return { server, _meta: { [OFFICIAL]: said } };
}

export class Registry {
  readonly #server: Server;
  /** The entries, the newest version of a server before its others. */
  readonly entries: Entry[];
  /** Files that it gives, by their path. */
  readonly files = new Map<string, Buffer>();

  private constructor(entries: Entry[]) {
    this.entries = entries;
    this.#server = createServer((request, response) => {
      const url = new URL(request.url ?? "/", "http://registry");
      const file = this.files.get(url.pathname);
      if (file) {
        response.writeHead(200, { "content-type": "application/octet-stream" });
        response.end(file);
        return;
      }
      const found = this.#answer(url);
      response.writeHead(found ? 200 : 404, { "content-type": "application/json" });
      response.end(JSON.stringify(found ?? { error: "not found" }));
    });
  }

  static async start(entries: Entry[]): Promise<Registry> {
    const registry = new Registry(entries);
    registry.#server.listen(0, "127.0.0.1");
    await once(registry.#server, "listening");
    return registry;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** From then on it can't be reached. */
  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    if (this.#server.listening) await new Promise((done) => this.#server.close(done));
  }

  #answer(url: URL): object | undefined {
    const page = (servers: Entry[], nextCursor?: string) => ({
      servers,
      metadata: { count: servers.length, nextCursor },
    });
    const [, , , name, versions, version] = url.pathname.split("/").map(decodeURIComponent);
    if (name === undefined) {
      const text = url.searchParams.get("search") ?? "";
      const found = this.entries.filter(({ server, _meta }) => {
        const { isLatest } = _meta[OFFICIAL] as { isLatest: boolean };
        return isLatest && server.name.includes(text);
      });
      const from = Number(url.searchParams.get("cursor") ?? 0);
      const limit = 3;
      const next = from + limit < found.length ? String(from + limit) : undefined;
      return page(found.slice(from, from + limit), next);
    }
    const own = this.entries.filter(({ server }) => server.name === name);
    if (versions !== "versions" || own.length === 0) return undefined;
    if (version === undefined) return page(own);
    return own.find(({ server }) => version === "latest" || server.version === version);
  }
}
