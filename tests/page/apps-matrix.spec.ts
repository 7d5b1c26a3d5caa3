// Example servers of the MCP Apps project in Chromium. Each row of tests/apps/MATRIX.md is compared with what its app
// does. `DRAWBRIDGE_WRITE_MATRIX=1` writes the table instead.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import type { Page } from "@playwright/test";

import { appFrame, approveApp } from "./apps";
import type { DevHost, Setup } from "./dev-host";
import { EXAMPLES, exampleServer, HttpExample } from "./example-servers";
import { allow, callTool, expect, test } from "./fixtures";

const MATRIX = resolve(__dirname, "../apps/MATRIX.md");
const IS_WRITTEN = process.env.DRAWBRIDGE_WRITE_MATRIX === "1";
const HEAD = `# Example servers of MCP Apps

What their apps do in Drawbridge, over stdio and over Streamable HTTP in Chromium: the tool that was called without
arguments, whether its app draws something, the hosts that its page requests, and the kinds of requests for which it
asks at first. Other hosts are unreachable in the test. The app of \`threejs\` draws the reason why it can't work: it
evaluates text as code, which the policy denies. The app of \`sheet-music\` draws nothing without arguments.

Written and compared by \`tests/page/apps-matrix.spec.ts\`, which is not a part of \`cargo xtask test\`, since it
downloads the servers:

    cd tests && npx playwright test -c page/playwright.config.ts --project=examples

| server | transport | tool | app | requested hosts | requests for consent |
| --- | --- | --- | --- | --- | --- |
`;

interface ListedTool {
  name: string;
  others?: { _meta?: { ui?: { resourceUri?: string } } };
}

const TRANSPORTS = ["stdio", "HTTP"] as const;
type Transport = (typeof TRANSPORTS)[number];

/** Returns the first cells of a row, by which it is found. */
const beginning = (name: string, transport: Transport) => `| ${name} | ${transport} |`;

/** Rows of the table, by their beginnings. */
const rows = new Map<string, string>();
let example: HttpExample | null = null;

test.describe.configure({ mode: "default" });
test.afterEach(async () => {
  await example?.stop();
  example = null;
});
test.afterAll(() => {
  if (!IS_WRITTEN) return;
  const written = new Map([...readRows(), ...rows]);
  const beginnings = Object.keys(EXAMPLES).flatMap((name) => TRANSPORTS.map((transport) => beginning(name, transport)));
  const ordered = beginnings.flatMap((start) => written.get(start) ?? []);
  writeFileSync(MATRIX, HEAD + ordered.map((row) => `${row}\n`).join(""));
});

/** Returns the rows of the table, by their beginnings. */
function readRows(): Map<string, string> {
  const lines = readFileSync(MATRIX, "utf8").split("\n");
  return new Map(
    lines.flatMap((line) => {
      const start = /^\| [a-z-]+ \| (stdio|HTTP) \|/.exec(line)?.[0];
      return start === undefined ? [] : [[start, line]];
    }),
  );
}

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
        const row = await observe(app, host, name, transport);
        const start = beginning(name, transport);
        rows.set(start, row);
        if (!IS_WRITTEN) expect(row, "the app should do what the table says").toBe(readRows().get(start));
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

/** Calls the first tool with an app, shows the app, and returns the row of the table. */
async function observe(app: Page, host: DevHost, name: string, transport: Transport): Promise<string> {
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
  const cells = [name, transport, tool.name, drawn, hosts.join(" ") || "none", requests || "none"];
  return `| ${cells.join(" | ")} |`;
}
