// MCP server on the official SDK with an app: `server.mjs PAGES` over stdio, or `server.mjs PAGES http`, which also
// serves the app and its plain host on loopback, and prints the URL. PAGES is a JSON file with both pages, `html` and
// `host`.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

import { registerAppResource, registerAppTool, RESOURCE_MIME_TYPE } from "@modelcontextprotocol/ext-apps/server";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const PAGE = "ui://tides/page.html";
const NOTICE = "harbour:///notice.txt";

const [file, transport] = process.argv.slice(2);
const pages = JSON.parse(readFileSync(file, "utf8"));
const result = (text, more = {}) => ({ content: [{ type: "text", text }], ...more });

function tidesServer() {
  const server = new McpServer({ name: "tides", version: "1.0.0" });
  registerAppTool(
    server,
    "show_tides",
    {
      description: "Shows the tides of a harbour.",
      inputSchema: z.object({ harbour: z.string().optional() }),
      _meta: { ui: { resourceUri: PAGE } },
    },
    ({ harbour = "Hull" }) => result(`The tides of ${harbour}.`, { structuredContent: { harbour } }),
  );
  const numbers = z.object({ a: z.number(), b: z.number() });
  server.registerTool("add", { description: "Adds two numbers.", inputSchema: numbers }, ({ a, b }) =>
    result(`${a} + ${b} = ${a + b}`, { structuredContent: { sum: a + b } }),
  );
  server.registerTool("fail", { description: "Fails.", inputSchema: z.object({}) }, () =>
    result("The gauge is silent.", { isError: true }),
  );
  registerAppResource(server, "page.html", PAGE, { description: "Page of the tides." }, () => ({
    contents: [{ uri: PAGE, mimeType: RESOURCE_MIME_TYPE, text: pages.html }],
  }));
  server.registerResource("notice.txt", NOTICE, { mimeType: "text/plain" }, () => ({
    contents: [{ uri: NOTICE, mimeType: "text/plain", text: "The bridge opens at nine." }],
  }));
  return server;
}

if (transport === "http") {
  const handler = toNodeHandler(createMcpHandler(tidesServer));
  const documents = { "/": pages.host, "/app": pages.html };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://tides");
    if (pathname === "/mcp") return handler(request, response);
    if (!(pathname in documents)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(documents[pathname]);
  });
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
  process.stdin.on("end", () => process.exit(0)).resume();
} else {
  serveStdio(tidesServer);
}
