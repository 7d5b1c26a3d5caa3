// Servers of a registry on loopback and of bundles: found, previewed in the sheet, added stopped, and run. Also the
// computer check.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { entry } from "../page/registry.mjs";

const REAL = "io.github.modelcontextprotocol/everything";

/** Entries of the test registry. */
export const LISTED = [
  entry({
    ...{ name: REAL, version: "2026.8.31", title: "Everything", description: "Shows what an MCP server can do" },
    repository: { url: "https://github.com/modelcontextprotocol/servers", source: "github" },
    packages: [
      {
        ...{ registryType: "npm", identifier: "@modelcontextprotocol/server-everything", version: "2026.8.31" },
        ...{ transport: { type: "stdio" }, runtimeHint: "npx" },
        packageArguments: [{ type: "positional", valueHint: "transport", value: "stdio" }],
        environmentVariables: [
          { name: "EVERYTHING_KEY", description: "A key from your account", isRequired: true, isSecret: true },
          { name: "LEVEL", description: "How much it says", choices: ["quiet", "loud"], default: "quiet" },
        ],
      },
      {
        ...{ registryType: "oci", identifier: "docker.io/mcp/everything:2026.8.31", transport: { type: "stdio" } },
      },
    ],
    remotes: [{ type: "streamable-http", url: "https://everything.example.com/mcp" }],
  }),
  entry({ name: REAL, version: "2026.7.4", packages: [] }, { isLatest: false, status: "deprecated", statusMessage: "Use 2026.8" }),
  entry({ name: "com.example/harbour", version: "1.0.0", description: "Tides, moorings and the opening hours of the bridge" }),
  entry(
    { name: "io.github.bob/old", version: "0.1.0", description: "Keeps notes" },
    { status: "deprecated", statusMessage: "Nobody looks after it" },
  ),
];

export async function installs(page, place, step) {
  const settings = () => JSON.parse(readFileSync(place.config, "utf8")).mcpServers;

  await step("a server of a registry is found, and shown with its publisher and command", async () => {
    await page.go("#/add-server");
    await page.picture("add-server");
    await page.click("button", "From a registry…", "main");
    await page.waitForText("Tides, moorings", "main");
    await page.inEachTheme("registry");
    await page.go(`#/registry/${encodeURIComponent(REAL)}`);
    await page.waitForText("the GitHub account modelcontextprotocol", "main");
    await page.inEachTheme("registry-server");
  });

  await step("the sheet shows the exact setup, and adds the server stopped with its secret in the keychain", async () => {
    await page.click("button", /^Install @modelcontextprotocol\/server-everything/, "main");
    const sheet = "[role=dialog]";
    await page.waitForText("npx -y @modelcontextprotocol/server-everything@2026.8.31 stdio", sheet);
    await page.inEachTheme("install-sheet");
    await page.fill(/^EVERYTHING_KEY/, "s3cret-0123456789", "textbox", sheet);
    await page.waitForText("secret, in the keychain", sheet);
    await page.picture("install-sheet-filled");
    await page.click("button", "Add server", sheet);
    const name = "everything";
    await page.until("the server to be added", () => settings()[name]);
    assert.equal(
      settings()[name].env.EVERYTHING_KEY,
      `\${secret:${name}.EVERYTHING_KEY}`,
      "the settings file should refer to the secret by name",
    );
    await page.waitForElement("heading", name);
    await page.inEachTheme("installed-server");
    await page.invoke("remove_server", { server: name });
  });

  await step("the computer check shows a remedy for each finding", async () => {
    const config = { type: "stdio", command: "no-such-program-7461", args: [], env: {}, cwd: null, revision: null };
    await page.invoke("add_server", { name: "lost", config });
    await page.click("button", "Help");
    await page.click("menuitem", "Check this computer");
    const dialog = "[role=dialog]";
    await page.waitForText("no-such-program-7461", dialog);
    await page.inEachTheme("check");
    await page.click("disclosure", /checks passed/, dialog);
    await page.inEachTheme("check-passed");
    await page.press("\uE00C");
    await page.until("the dialog to be closed", async () => !(await page.has("button", "Copy report", dialog)));
    await page.invoke("remove_server", { server: "lost" });
  });
}
