// Servers of other apps in the user's home folder.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const NAME = "from-cursor";
const SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

export async function otherApps(page, place, step) {
  await step("3 a server of another app is found, imported stopped, and its secret stored in the keychain", async () => {
    const file = join(place.home, ".cursor/mcp.json");
    mkdirSync(join(place.home, ".cursor"), { recursive: true });
    const server = { command: place.demo, args: ["--era", "modern"], env: { GITHUB_TOKEN: SECRET } };
    const text = JSON.stringify({ mcpServers: { [NAME]: server } });
    writeFileSync(file, text);
    await page.go("#/import");
    await page.click("button", "Search for servers", "main");
    await page.waitForText("Found 1 server", "main");
    await page.waitForText("Stored in the keychain", "main");
    await page.picture("import");
    await page.click("button", "Import 1 server", "main");
    await page.waitForText("1 server imported", "main");
    const { value } = await page.invoke("read_snapshot", {});
    const found = value.servers.find(({ name }) => name === NAME);
    assert.equal(found?.state.is, "stopped", "the imported server should be stopped");
    assert.ok(
      readFileSync(place.config, "utf8").includes(`\${secret:${NAME}.GITHUB_TOKEN}`),
      "the settings file should refer to the secret by name",
    );
    assert.ok(!readFileSync(place.config, "utf8").includes(SECRET), "the settings file should not contain the secret");
    assert.equal(readFileSync(file, "utf8"), text, "the file of the other app should be unchanged");
    await page.invoke("remove_server", { server: NAME });
  });
}
