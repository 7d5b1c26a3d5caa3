// Example servers of the MCP Apps project in the window. What the app of each draws is compared with the column
// `WebKitGTK` of `tests/apps/MATRIX.md`. `DRAWBRIDGE_WRITE_MATRIX=1` writes the column instead.
import assert from "node:assert/strict";

import { EXAMPLES, exampleServer, HttpExample } from "../apps/example-servers.cjs";
import { IS_WRITTEN, readRow, TRANSPORTS, writeCells } from "../apps/matrix.cjs";
import { APP_FRAME, callTool, RESULT } from "./calls.mjs";

const SERVER = "harbour";
/** Time in milliseconds in which an app must draw something. */
const DRAW_TIMEOUT_MS = 15_000;

export async function examples(page, place, step) {
  for (const name of Object.keys(EXAMPLES)) {
    for (const transport of TRANSPORTS) {
      await step(`the app of ${name} over ${transport} is drawn as the table says`, async () => {
        const http = transport === "HTTP" ? await HttpExample.start(name) : null;
        try {
          await startExample(page, name, http);
          const { tool, drawn } = await showApp(page);
          await page.picture(`${name}-${transport}`);
          const row = readRow(name, transport);
          assert.equal(row.tool, tool, "the same tool should be called as in Chromium");
          if (IS_WRITTEN) writeCells(name, transport, { WebKitGTK: drawn });
          else assert.equal(drawn, row.WebKitGTK, "the app should do what the table says");
        } finally {
          await page.go("#/");
          await page.invoke("deny_all_consent_requests", {});
          await page.invoke("remove_server", { server: SERVER });
          await http?.stop();
        }
      });
    }
  }
}

/** Adds the server and starts it, with a permanent approval. */
async function startExample(page, name, http) {
  const config =
    http === null
      ? { type: "stdio", command: process.execPath, args: [await exampleServer(name), "--stdio"], env: {} }
      : { type: "http", url: http.url, headers: [], kind: null, revision: null };
  const { refused } = await page.invoke("add_server", { name: SERVER, config });
  assert.equal(refused, undefined, "the server should be added");
  await page.go(`#/server/${SERVER}/overview`);
  await page.click("button", "Start", "main");
  await page.allow(http === null ? "Always allow this command" : "Always allow this address");
  await page.waitForText("ready", "main header");
}

/** Calls the first tool with an app, and shows the app. Returns the tool's name, and `drawn` or `blank`. */
async function showApp(page) {
  const tool = await page.until("a tool with an app to be listed", async () => {
    const { value } = await page.invoke("read_catalog", { server: SERVER });
    return value.tools.find(({ others }) => others?._meta?.ui?.resourceUri !== undefined)?.name;
  });
  await callTool(page, SERVER, tool);
  await page.allow("Allow once");
  await page.click("button", "Show app", RESULT);
  await page.waitForText(`Show an app of ${SERVER}?`, RESULT);
  await page.click("button", "Show app", RESULT);
  const drawn = await page
    .until("the app to be drawn", () => page.inFrame(APP_FRAME, () => page.run(drawsSomething)), DRAW_TIMEOUT_MS)
    .then(
      () => "drawn",
      () => "blank",
    );
  return { tool, drawn };
}

/** Returns `true` if the document has a height, and a text or a picture. Runs in the app. */
function drawsSomething() {
  const picture = document.body.querySelector("canvas, svg, img, video");
  const hasContent = document.body.innerText.trim() !== "" || picture !== null;
  return document.body.getBoundingClientRect().height > 20 && hasContent;
}
