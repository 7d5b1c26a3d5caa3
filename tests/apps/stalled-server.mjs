// MCP server whose app uses up what it shares with the window, some time after a click. It computes without end: at
// once, with short pauses, while it is closed, or when its frame is removed. In the last two cases it requests its end
// by itself. Or it allocates memory up to a bound above its limit, in its own process or in the one that stores blobs.
// At SIGUSR2, the server starts a child process that has the name of a process of WebKitGTK, grows as much and ends.
import { spawn } from "node:child_process";

import { APP_TYPE, serve, text } from "./stdio.mjs";

const PAGE = "ui://stalled/page.html";
/** Time in milliseconds before the app stops responding, in which a test can leave its frame. */
const DELAY_MS = 2_000;
/** Time in milliseconds for which the app computes before each pause. */
const COMPUTE_MS = 7_000;
const PAUSE_MS = 100;
/** Size in bytes of what the app allocates at a time, and the time between two allocations in milliseconds. */
const BLOCK_BYTES = 1 << 25;
const ALLOCATION_INTERVAL_MS = 20;
/** Number of blocks at which the app stops: 2.5 GiB, so that the computer remains usable if nothing ends it. */
const MAX_BLOCKS = 80;

const html = `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8" /><title>Stalled</title></head>
  <body>
    <button type="button" id="compute">Compute</button>
    <button type="button" id="teardown">Loop in teardown</button>
    <button type="button" id="removal">Loop on removal</button>
    <button type="button" id="pauses">Compute with pauses</button>
    <button type="button" id="memory">Allocate</button>
    <button type="button" id="blobs">Allocate blobs</button>
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
      const computeWithPauses = () => {
        for (const end = performance.now() + ${COMPUTE_MS}; performance.now() < end; );
        setTimeout(computeWithPauses, ${PAUSE_MS});
      };
      // The app responds between two allocations. Memory counts only when it is written.
      const newBlock = () => new Uint8Array(${BLOCK_BYTES}).fill(1);
      const allocated = [newBlock()];
      const allocate = (more) => () => {
        const timer = setInterval(() => {
          if (allocated.push(more()) >= ${MAX_BLOCKS}) clearInterval(timer);
        }, ${ALLOCATION_INTERVAL_MS});
      };
      onClick("compute", loop);
      onClick("pauses", computeWithPauses);
      onClick("memory", allocate(newBlock));
      onClick("blobs", allocate(() => new Blob([allocated[0]])));
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

/** Program of the child process. */
const CHILD = `
  require("node:fs").writeFileSync("/proc/self/comm", "WebKitNetworkPr");
  let grown;
  setTimeout(() => (grown = Buffer.alloc(1.25 * 2 ** 30, 1)), ${DELAY_MS});
  setTimeout(() => process.exit(grown[0]), 12_000);`;

process.on("SIGUSR2", () => spawn(process.execPath, ["-e", CHILD], { stdio: "ignore" }));

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
