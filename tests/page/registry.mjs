// Server registry (API version 0.1) on loopback with the entries of a test. Used by the tests of the page and of the
// window.
import { once } from "node:events";
import { createServer } from "node:http";

const OFFICIAL = "io.modelcontextprotocol.registry/official";

/**
 * Registry entry.
 * @typedef {{ server: { name: string, version: string } & Record<string, unknown>, _meta: Record<string, unknown> }}
 * Entry
 */

/**
 * Creates an entry for a version of a server, with registry metadata.
 * @param {Entry["server"]} server
 * @param {Record<string, unknown>} listing
 * @returns {Entry}
 */
export function entry(server, listing = {}) {
  const metadata = { status: "active", isLatest: true, publishedAt: "2026-02-01T00:00:00Z", ...listing };
  return { server, _meta: { [OFFICIAL]: metadata } };
}

export class Registry {
  #server;
  /**
   * Entries of the registry. The newest version of a server is before its other versions.
   * @type {Entry[]}
   */
  entries;
  /**
   * Downloadable files by path.
   * @type {Map<string, Buffer>}
   */
  files = new Map();

  /**
   * Starts a registry with these entries.
   * @param {Entry[]} entries
   */
  static async start(entries) {
    const registry = new Registry();
    registry.entries = entries;
    registry.#server = createServer((request, response) => {
      const url = new URL(request.url ?? "/", "http://registry");
      const file = registry.files.get(url.pathname);
      if (file) {
        response.writeHead(200, { "content-type": "application/octet-stream" });
        response.end(file);
        return;
      }
      const found = registry.#answer(url);
      response.writeHead(found ? 200 : 404, { "content-type": "application/json" });
      response.end(JSON.stringify(found ?? { error: "not found" }));
    });
    registry.#server.listen(0, "127.0.0.1");
    await once(registry.#server, "listening");
    return registry;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  /** Stops the registry, so that it can't be reached any more. */
  async stop() {
    this.#server.closeAllConnections();
    if (this.#server.listening) await new Promise((done) => this.#server.close(done));
  }

  #answer(url) {
    const page = (servers, nextCursor) => ({ servers, metadata: { count: servers.length, nextCursor } });
    const [, , , name, versions, version] = url.pathname.split("/").map(decodeURIComponent);
    if (name === undefined) {
      const text = url.searchParams.get("search") ?? "";
      const found = this.entries.filter(
        ({ server, _meta }) => _meta[OFFICIAL].isLatest && server.name.includes(text),
      );
      const from = Number(url.searchParams.get("cursor") ?? 0);
      const limit = 3;
      const next = from + limit < found.length ? String(from + limit) : undefined;
      return page(found.slice(from, from + limit), next);
    }
    const listed = this.entries.filter(({ server }) => server.name === name);
    if (versions !== "versions" || listed.length === 0) return undefined;
    if (version === undefined) return page(listed);
    return listed.find(({ server }) => version === "latest" || server.version === version);
  }
}
