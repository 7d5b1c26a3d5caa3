// Loop of an MCP server over stdio, of revision 2025-11-25 and without dependencies.
import { createInterface } from "node:readline";

/** Media type of pages of MCP Apps. */
export const APP_TYPE = "text/html;profile=mcp-app";

export const text = (content) => ({ content: [{ type: "text", text: content }] });

/** Serves these methods until standard input ends. Each takes parameters and returns a result. */
export function serve(methods) {
  const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const always = {
    initialize: () => ({
      protocolVersion: "2025-11-25",
      capabilities: { tools: {}, resources: {} },
      serverInfo: { name: "apps", version: "1.0.0" },
    }),
    ping: () => ({}),
  };
  const input = createInterface({ input: process.stdin });
  input.on("line", async (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined || method === undefined) return;
    const act = { ...always, ...methods }[method];
    if (act) send({ id, result: await act(params ?? {}) });
    else send({ id, error: { code: -32601, message: "no such method" } });
  });
  input.on("close", () => process.exit(0));
}
