// Example servers of the MCP Apps project, each a package with all of its code in one file. They are downloaded without
// their dependencies, which they don't need, and verified by the hash that is pinned here. Used by the tests of the page
// and of the window. A CommonJS module, so that both can import it.
const { execFileSync, spawn } = require("node:child_process");
const { createHash } = require("node:crypto");
const { once } = require("node:events");
const { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } = require("node:fs");
const { join, resolve } = require("node:path");
const { createInterface } = require("node:readline");

const FOLDER = resolve(__dirname, "../../target/app-servers");
const VERSION = "2.0.3";
const REGISTRY = "https://registry.npmjs.org";

/**
 * SHA-512 of each package, by the part of its name after `server-`.
 * @type {Record<string, string>}
 */
const EXAMPLES = {
  debug:
    "m3GfOyTechoeqA0ZbxOwsCT69o6OJENT/j2ZkAF3qc/T+ikdsLM1qfbeAr4YFeYR7DOtHMnmibOeK4ddK8KssQ==",
  "basic-vanillajs":
    "SGqoYRPkZ83b9VTJGdGzDHqL7+OCzTcEunkA2h7lJr5xpWxqMO43OIBkYFgYLfptxLMbB6K6cVX7dISFXv5xDA==",
  "basic-preact":
    "zAk7/KA274Zkhw8JsIrSv0oeCrgY4VK3WsNtv55NrJn/d+xM1wCYXGSTPwRmB2Ce6y12aSCEJhbcKJjdYdZ46A==",
  "basic-react":
    "SDCKg2uAA6EfK2ZoWfuPKNWzwgZ3zNjiHzDf+7+Gr3NMWd3c1no+7iczaSJY4BO7I3T3tYrg5OkcJ+rvzmX/MA==",
  "basic-solid":
    "gUpcDpnQyPeU1eeS2qAzwnHPeDpYqJ6I6FjTqX4inX+rX+Ro4y0ac8INnw2Fof/PAnHGcCjJoYDYCRJXXpKM3g==",
  "basic-svelte":
    "/Q13IuhGcbyA5DjX3BWI/eCH2XaJs2iHxUFym9dpF7pnUJBO+P3sg3QKibknlPuvmpx5nfQTXJInlwwInAIg9A==",
  "basic-vue":
    "A/CZMeA9BSpvXDutHodseXpZSVPLtOKbc879LMtFLvPGtpOOSOW+QNLZkSF9LwlXs3L5+ePKNJxj8p91pSTg4g==",
  "budget-allocator":
    "FXJfF3k5C7h9ujba7cZ5zVoptwfyWvO0H4mGJzUxFtvQ9wxKOx7WELoyFEvhuI+gQvZ+y1dAtBZhcUVSCsenpg==",
  "cohort-heatmap":
    "v3s0ffAHfcutBqxBxYMPhI9rZV1p5mkqiFayCKBeK9VDexlyJiKZn4DuDXLx7BIxxRi+K+xk5edrRTlcoHt/qA==",
  "customer-segmentation":
    "/prFHYVDjEqDagnapJNR09j60ah/F6KA8MymTzcueauFdQZ3mZbT79hlFU/B3gqVcA7D1qa50Ap2Qdw/G5XJNg==",
  "scenario-modeler":
    "PAyQ5A2IsO1OwCdJKhd3IivYYTaWr3TR3ODYtazUbdOxkEZ3LdZT3NI4MtJBmKRok8mvlC2t89frJ3e66hIxXQ==",
  "system-monitor":
    "vrpj3fM+uG3php2+EvN8tycuRDuTcFic7N3qMvUVwI3wjj2F1ECNBBEshZEHQSFURLOfoV+AKaBoXD1e0FY5NQ==",
  threejs:
    "uEbphf2ajzDd+c8pqlDboBQN77OwopBPs45lu8+RJ73d/EULtr/wuTGplq8kOf99YwgfCgPoSY5axuHrJ+3BAQ==",
  shadertoy:
    "vSPjP9BgfsnT1x3GyZ0YymSm3f8itAyfoPbxQ7L0sunSIjOsjZ4mY9Q9NSqHhrP348MKyCSRdF6egNMrXuiahQ==",
  transcript:
    "/MyoXSDzOEe+Ozsk+R298aEC+dwOQEmVlmDOjO83fkQkvUN+GJL2R0kj+u47hbGybIv2Gl5M5G+e2NjXiU14hQ==",
  "video-resource":
    "JP8LWoDoPczwYTTs/9RJPSlwjfSP+RfppeD4WwzxHV6Pg4cIBvHD84aE6GsSmjzGdDfuTE1zc1nXkvu8J8uJQw==",
  "sheet-music":
    "P4Bh1Fsdadgh6vMmELxbOXhOC8NJisHnuF/Q5M7TQJzWo6cc88w135yTi0x5AK703M4rv8Tvd6xdXc0jWHBiwA==",
  map:
    "fvqs86Z8kK1fVxtWpuuzRjD0GD0eVsqJGOQhWo+gp5ugCvXJt4x+QsVLIjCbm7+gD3VeXXTo1+YDG2kYB7N3mA==",
  "wiki-explorer":
    "GjOn3QFaCt6KhIooWDIGJcqbQEyluaDMcBmD8QjS/GUYrzrJo3jjID3H5gjfSmK5aw02MWDrCdvURQCpN7PKPA==",
};

/**
 * Returns the path of the script that starts an example server: over stdio with `--stdio`, otherwise over HTTP.
 * Downloads it at the first use.
 * @param {string} name
 * @returns {Promise<string>}
 */
async function exampleServer(name) {
  const folder = join(FOLDER, `${name}-${VERSION}`);
  const script = join(folder, "package/dist/index.js");
  if (existsSync(script)) return script;
  const url = `${REGISTRY}/@modelcontextprotocol/server-${name}/-/server-${name}-${VERSION}.tgz`;
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: HTTP ${response.status}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  const hash = createHash("sha512").update(bytes).digest("base64");
  if (hash !== EXAMPLES[name]) throw new Error(`${url} has the hash ${hash}, not ${EXAMPLES[name]}`);
  // A folder with its final name is complete.
  const unpacked = `${folder}.${process.pid}`;
  mkdirSync(unpacked, { recursive: true });
  const archive = join(unpacked, "package.tgz");
  writeFileSync(archive, bytes);
  execFileSync("tar", ["--extract", "--gzip", "--file", archive, "--directory", unpacked, "package"]);
  rmSync(archive);
  if (existsSync(script)) rmSync(unpacked, { recursive: true });
  else renameSync(unpacked, folder);
  return script;
}

/** Example server over HTTP in a child process. */
class HttpExample {
  /** @type {string} */
  url;
  /** @type {import("node:child_process").ChildProcess} */
  #process;

  /**
   * @param {string} url
   * @param {import("node:child_process").ChildProcess} process
   */
  constructor(url, process) {
    this.url = url;
    this.#process = process;
  }

  /**
   * Starts an example server on a free port of the loopback interface.
   * @param {string} name
   * @returns {Promise<HttpExample>}
   */
  static async start(name) {
    const args = ["--require", join(__dirname, "loopback.cjs"), await exampleServer(name)];
    const child = spawn(process.execPath, args, {
      env: { ...process.env, PORT: "0" },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const port = await new Promise((resolve, reject) => {
      createInterface({ input: child.stdout }).on("line", (line) => {
        const printed = /^port (\d+)$/.exec(line)?.[1];
        if (printed !== undefined) resolve(printed);
      });
      child.once("exit", () => reject(new Error(`the example server ${name} ended at its start`)));
    });
    return new HttpExample(`http://127.0.0.1:${port}/mcp`, child);
  }

  /** @returns {Promise<void>} */
  async stop() {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await ended;
  }
}

module.exports = { EXAMPLES, exampleServer, HttpExample };
