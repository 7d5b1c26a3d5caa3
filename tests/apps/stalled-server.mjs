// MCP server whose app computes without end some time after a click: at once, while it is closed, or when its frame is
// removed. In the last two cases it requests its end by itself.
import { APP_TYPE, serve, text } from "./stdio.mjs";

const PAGE = "ui://stalled/page.html";
/** Time in milliseconds before the app stops responding, in which a test can leave its frame. */
const DELAY_MS = 5_000;

const html = `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8" /><title>Stalled</title></head>
  <body>
    <button type="button" id="compute">Compute</button>
    <button type="button" id="teardown">Loop in teardown</button>
    <button type="button" id="removal">Loop on removal</button>
    <script>
      const loop = () => { for (;;); };
      let loopsInTeardown = false;
      const post = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
      addEventListener("message", ({ source, data }) => {
        if (source !== parent) return;
        if (data?.id === "initialize") post({ method: "ui/notifications/initialized", params: {} });
        if (data?.method !== "ui/resource-teardown") return;
        if (loopsInTeardown) loop();
        post({ id: data.id, result: {} });
      });
      post({
        id: "initialize",
        method: "ui/initialize",
        params: { protocolVersion: "2026-01-26", appInfo: { name: "stalled", version: "1.0.0" }, appCapabilities: {} },
      });
      const onClick = (id, act) =>
        document.getElementById(id).addEventListener("click", () => setTimeout(act, ${DELAY_MS}));
      const requestTeardown = () => post({ method: "ui/notifications/request-teardown", params: {} });
      onClick("compute", loop);
      onClick("teardown", () => {
        loopsInTeardown = true;
        requestTeardown();
      });
      onClick("removal", () => {
        addEventListener("pagehide", loop);
        requestTeardown();
      });
    </script>
  </body>
</html>`;

const tools = [
  {
    name: "compute",
    description: "Shows a page that computes without end.",
    inputSchema: { type: "object" },
    _meta: { ui: { resourceUri: PAGE } },
  },
  { name: "greet", description: "Returns a greeting.", inputSchema: { type: "object" } },
];

serve({
  "tools/list": () => ({ tools }),
  "tools/call": ({ name }) => text(name === "greet" ? "Good morning" : "The page can compute."),
  "resources/list": () => ({ resources: [{ uri: PAGE, name: "page.html", mimeType: APP_TYPE }] }),
  "resources/templates/list": () => ({ resourceTemplates: [] }),
  "resources/read": () => ({ contents: [{ uri: PAGE, mimeType: APP_TYPE, text: html }] }),
});
