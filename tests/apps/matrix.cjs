// The table of example servers in `MATRIX.md`. The tests of the page write the cells of Chromium, and the tests of the
// window those of WebKitGTK. Each keeps the cells of the other. A CommonJS module, so that both can import it.
const { readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");

const { EXAMPLES } = require("./example-servers.cjs");

const FILE = join(__dirname, "MATRIX.md");
/** Set to write the table instead of comparing it with what the apps do. */
const IS_WRITTEN = process.env.DRAWBRIDGE_WRITE_MATRIX === "1";
/** @type {readonly ["stdio", "HTTP"]} */
const TRANSPORTS = ["stdio", "HTTP"];

const HEAD = `# Example servers of MCP Apps

What their apps do in Drawbridge, over stdio and over Streamable HTTP: the tool that was called without arguments,
whether its app draws something in Chromium and in the window (WebKitGTK), the hosts that its page requests, and the
kinds of requests for which it asks at first. Other hosts were unreachable. The app of \`threejs\` draws the reason why it
can't work: it evaluates text as code, which the policy denies. The app of \`sheet-music\` draws nothing without
arguments.

Written and compared by \`tests/page/apps-matrix.spec.ts\` and \`tests/desktop/examples.mjs\`, which are not a part of
\`cargo xtask test\`, since they download the servers:

    cd tests && npx playwright test -c page/playwright.config.ts --project=examples
    xvfb-run -a -s "-screen 0 1280x860x24" dbus-run-session -- node tests/desktop/run.mjs examples

\`DRAWBRIDGE_WRITE_MATRIX=1\` writes the table instead.

`;
const COLUMNS = ["server", "transport", "tool", "Chromium", "WebKitGTK", "requested hosts", "requests for consent"];

/**
 * Row of the table: the cells by the names of their columns.
 * @typedef {Record<string, string>} Row
 */

/**
 * Returns the cells between the bars of a line.
 * @param {string} line
 */
const cellsOf = (line) => line.slice(1, -1).split("|").map((cell) => cell.trim());

/**
 * Returns the rows of the table.
 * @returns {Row[]}
 */
function readRows() {
  const lines = readFileSync(FILE, "utf8").split("\n").filter((line) => line.startsWith("|"));
  const [names, , ...rows] = lines.map(cellsOf);
  return rows.map((cells) => Object.fromEntries(cells.map((cell, index) => [names?.[index] ?? "", cell])));
}

/**
 * Returns the cells of an example server, or an empty row.
 * @param {string} server
 * @param {string} transport
 * @returns {Row}
 */
function readRow(server, transport) {
  return readRows().find((row) => row.server === server && row.transport === transport) ?? {};
}

/**
 * Replaces cells of an example server.
 * @param {string} server
 * @param {string} transport
 * @param {Row} cells
 */
function writeCells(server, transport, cells) {
  const changed = { ...readRow(server, transport), server, transport, ...cells };
  const others = readRows().filter((row) => row.server !== server || row.transport !== transport);
  const order = Object.keys(EXAMPLES).flatMap((name) => TRANSPORTS.map((one) => `${name} ${one}`));
  /** @param {Row} row */
  const place = (row) => order.indexOf(`${row.server} ${row.transport}`);
  const rows = [...others, changed].sort((a, b) => place(a) - place(b));
  /** @param {string[]} cells */
  const line = (cells) => `| ${cells.join(" | ")} |\n`;
  const table = [COLUMNS, COLUMNS.map(() => "---"), ...rows.map((row) => COLUMNS.map((name) => row[name] ?? ""))];
  writeFileSync(FILE, HEAD + table.map(line).join(""));
}

module.exports = { IS_WRITTEN, TRANSPORTS, readRow, writeCells };
