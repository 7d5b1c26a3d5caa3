// MCP server whose app tries to escape from its frame. `connections` returns the connections that the app has made.
import { listen } from "./listener.mjs";
import { escapePage } from "./page.mjs";
import { APP_TYPE, serve, text } from "./stdio.mjs";

const PAGE = "ui://escape/page.html";
const listener = await listen();

const contents = { uri: PAGE, mimeType: APP_TYPE, text: escapePage(listener.port) };
const tools = [
  {
    name: "try_escape",
    description: "Shows a page that tries to escape from its frame.",
    inputSchema: {
      type: "object",
      properties: {
        leaving: { type: "integer", title: "Leaving", description: "Index of one attempt that may replace the page." },
      },
    },
    _meta: { ui: { resourceUri: PAGE } },
  },
  { name: "connections", description: "Lists the connections of the page.", inputSchema: { type: "object" } },
];

const calls = {
  try_escape: () => text("The page shows its attempts."),
  connections: () => ({
    ...text(JSON.stringify(listener.connections)),
    structuredContent: { connections: listener.connections },
  }),
};

serve({
  "tools/list": () => ({ tools }),
  "tools/call": ({ name }) => calls[name]?.() ?? { ...text("no such tool"), isError: true },
  "resources/list": () => ({ resources: [{ uri: PAGE, name: "page.html", mimeType: APP_TYPE }] }),
  "resources/templates/list": () => ({ resourceTemplates: [] }),
  "resources/read": () => ({ contents: [contents] }),
});
