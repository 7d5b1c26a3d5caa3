// Example servers of the MCP Apps project in Chromium. What each app does is compared with its row of
// tests/apps/MATRIX.md. `DRAWBRIDGE_WRITE_MATRIX=1` writes the table instead.
import { join } from "node:path";

import type { Page } from "@playwright/test";

import { EXAMPLES, exampleServer, HttpExample } from "../apps/example-servers.cjs";
import { IS_WRITTEN, readRow, TRANSPORTS, writeCells } from "../apps/matrix.cjs";
import { appFrame, approveApp } from "./apps";
import type { DevHost, Setup } from "./dev-host";
import { allow, callTool, expect, test } from "./fixtures";

interface ListedTool {
  name: string;
  others?: { _meta?: { ui?: { resourceUri?: string } } };
}

type Transport = (typeof TRANSPORTS)[number];

let example: HttpExample | null = null;

test.describe.configure({ mode: "default" });
test.afterEach(async () => {
  await example?.stop();
  example = null;
});

for (const name of Object.keys(EXAMPLES)) {
  for (const transport of TRANSPORTS) {
    test.describe(`${name} over ${transport}`, () => {
      const setup: Setup = { servers: {}, running: [], theme: "light", language: "en" };
      // Apps log their own errors, and refused requests of them.
      test.use({ setup, checksFaults: false });

      test("the app does what the table says", async ({ app, host }) => {
        test.setTimeout(90_000);
        // Nothing outside of this computer is reached, whatever an app requests.
        await app.context().route(/^(?!http:\/\/(127\.0\.0\.1|[0-9a-f]{32}\.localhost):)/, (route) => route.abort());
        await startExample(host, name, transport);
        const cells = await observe(app, host, name, transport);
        if (IS_WRITTEN) writeCells(name, transport, cells);
        else expect(readRow(name, transport), "the app should do what the table says").toMatchObject(cells);
      });
    });
  }
}

/** Adds the server to the host and starts it, with a permanent approval. */
async function startExample(host: DevHost, name: string, transport: Transport): Promise<void> {
  if (transport === "stdio") {
    const config = { type: "stdio", command: process.execPath, args: [await exampleServer(name), "--stdio"], env: {} };
    await host.call("add_server", { name: "harbour", config });
    return host.startApproved("harbour");
  }
  example = await HttpExample.start(name);
  const config = { type: "http", url: example.url, headers: [], kind: null, revision: null };
  await host.call("add_server", { name: "harbour", config });
  await host.call("start_server", { server: "harbour" });
  await host.answerNext("connect_server", { action: "allow", scope: "always" });
}

/** Calls the first tool with an app, shows the app, and returns the cells of the table. */
async function observe(app: Page, host: DevHost, name: string, transport: Transport) {
  // The list of tools is read after the server is ready.
  const listed = async () => {
    const { tools } = await host.call<{ tools: ListedTool[] }>("read_catalog", { server: "harbour" });
    return tools.find(({ others }) => others?._meta?.ui?.resourceUri !== undefined);
  };
  await expect.poll(listed, "a tool with an app should be listed").toBeDefined();
  const tool = (await listed())!;
  await callTool(app, tool.name);
  await allow(app, "Allow once");
  const result = app.getByTestId("tool-result");
  await expect(result).toHaveAttribute("data-state", /done|failed/);
  const page = await host.call<{ sources: { origin: string }[] }>("read_app_page", {
    server: "harbour",
    tool: tool.name,
  });
  await approveApp(app);
  const frame = appFrame(app, tool.name);
  const isDrawn = () =>
    frame.locator("body").evaluate((body) => {
      const picture = body.querySelector("canvas, svg, img, video");
      return body.getBoundingClientRect().height > 20 && (body.innerText.trim() !== "" || picture !== null);
    });
  const drawn = await expect.poll(isDrawn, { timeout: 15_000 }).toBe(true).then(
    () => "drawn",
    () => "blank",
  );
  await app.screenshot({ path: join(__dirname, `../../target/page-tests/apps/${name}-${transport}.png`) });
  const asked = async () => {
    const { consentRequests } = await host.snapshot();
    return [...new Set(consentRequests.map(({ body }) => body.kind))].join(", ");
  };
  // The kinds are complete once no other has followed for two seconds.
  let requests: string | null = null;
  const isComplete = async () => {
    const before = requests;
    requests = await asked();
    return requests === before;
  };
  await expect.poll(isComplete, { intervals: [2_000], timeout: 20_000 }).toBe(true);
  const hosts = [...new Set(page.sources.map(({ origin }) => origin))];
  return {
    tool: tool.name,
    Chromium: drawn,
    "requested hosts": hosts.join(" ") || "none",
    "requests for consent": requests || "none",
  };
}
