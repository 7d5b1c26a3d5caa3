// Runs one attack on the page by a hostile server and checks the invariants: the page responds, no forbidden
// connection is made, nothing is thrown, the well-behaved server responds, memory is bounded, no secret leaks, and no
// process is left.
import { createHash, randomBytes } from "node:crypto";
import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { join } from "node:path";

import { expect, type Page } from "@playwright/test";

import { DEMO, DevHost, SCRIPTED } from "./dev-host";
import { recordFaults } from "./faults";
import { allow, LEGACY, visit } from "./fixtures";
import { nextFrame } from "./waiting";
import { removeFolder, temporaryFolder } from "./temporary";

/** Responses of the hostile server, by method. */
export interface ScriptedResponses {
  /** Results of the server, by method. */
  reply?: Record<string, unknown>;
  /** Complete output lines by method, in place of a response. */
  raw?: Record<string, string>;
  /** Name of a built-in fault of the scripted server. */
  misbehave?: string;
  /** Number of repetitions of the fault. */
  count?: number;
}

export interface Attack {
  app: Page;
  host: DevHost;
  /** Returns the number of connections to the address that must not be fetched. */
  hits: () => number;
}

const MAX_MEMORY_GROWTH_BYTES = 300 * 2 ** 20;
// Other parts of the tests may use all processors at the same time. A page or server that an attack blocks does not
// respond for much longer.
const MAX_RESPONSE_TIME_MS = 3_000;
/** Interval of the page's heartbeat in milliseconds. */
const HEARTBEAT_INTERVAL_MS = 50;

/** Returns a `tools/list` result with one tool without arguments. `more` adds members to its definition. */
export const tool = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
  tools: [{ name: "show", description: "Shows something", inputSchema: { type: "object" }, ...more }],
});
export const text = (content: string): Record<string, unknown> => ({ content: [{ type: "text", text: content }] });

/** Seed of random values, which `cargo xtask hostile --seed` sets. */
const SEED = process.env.HOSTILE_SEED ?? randomBytes(8).toString("hex");
let words = 0;

/** Returns a random word that begins with `name`. Equal for the same seed. */
export const word = (name: string): string =>
  `${name}-${createHash("sha256").update(`${SEED} ${name} ${words++}`).digest("hex").slice(0, 12)}`;

/** Secret in the environment of the host, which must not leak. The host inherits it from this process. */
const CANARY = (process.env.HOSTILE_CANARY ||= word("canary"));

/**
 * Runs one attack and checks the invariants.
 * @param what The case and the attempt, such as `X15, pictures in Markdown`.
 * @param responsesFor Returns the responses of the server, given a URL that must not be fetched.
 */
export async function attack(
  page: Page,
  what: string,
  responsesFor: (collector: string) => ScriptedResponses,
  act: (attack: Attack) => Promise<void>,
): Promise<void> {
  let hits = 0;
  const collector = createServer((_, response) => {
    hits += 1;
    response.end();
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => collector.once("listening", resolve));
  const address = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/collect`;
  const folder = temporaryFolder("drawbridge-attack-");
  const host = await DevHost.start({
    ...LEGACY,
    servers: {
      harbour: { command: DEMO, args: ["--era", "legacy"] },
      bad: { command: SCRIPTED, args: scriptArguments(folder, responsesFor(address)) },
    },
    running: ["harbour", "bad"],
  });
  let measured: Record<string, number> | null = null;
  try {
    const faults = await open(page, host);
    const memoryBefore = host.memory();
    await act({ app: page, host, hits: () => hits });
    const pauses = (await page.evaluate("window.pauses")) as number[];
    const slowest = pauses.toSorted((one, other) => one - other)[Math.floor(pauses.length * 0.99)] ?? 0;
    expect(slowest, `${what}: the page should respond throughout the attack`).toBeLessThan(MAX_RESPONSE_TIME_MS);
    const startedAt = Date.now();
    await host.call("refresh_list", { server: "harbour", list: "tools" });
    expect(Date.now() - startedAt, `${what}: the well-behaved server should respond at once`).toBeLessThan(MAX_RESPONSE_TIME_MS);
    const grown = host.memory() - memoryBefore;
    expect(grown, `${what}: memory should be bounded`).toBeLessThan(MAX_MEMORY_GROWTH_BYTES);
    expect(hits, `${what}: nothing should be fetched`).toBe(0);
    expect(faults, `${what}: the page should throw no exceptions and log no errors`).toEqual([]);
    await assertNoSecretLeaks(what, page, host);
    // A page that outlives its host reconnects, and the next attack in this page would record that as an error.
    await page.goto("about:blank");
    const { servers } = await host.snapshot();
    const ending = Date.now();
    await host.end();
    for (const { name, pid } of servers) {
      expect(pid !== null && isAlive(pid), `${what}: the process of ${name} should have ended`).toBe(false);
    }
    measured = { slowest_ms: slowest, memory_mib: grown / 2 ** 20, gone_ms: Date.now() - ending };
  } finally {
    row(what, measured);
    await host.stop();
    collector.close();
    removeFolder(folder);
  }
}

/**
 * Returns the command line arguments of the scripted server for these responses. Long responses are stored in files.
 */
function scriptArguments(folder: string, { reply = {}, raw = {}, misbehave, count }: ScriptedResponses): string[] {
  const file = (name: string, content: string) => {
    const path = join(folder, name.replaceAll("/", "-"));
    writeFileSync(path, content);
    return path;
  };
  const args: string[] = [];
  for (const [method, result] of Object.entries(reply)) {
    args.push("--reply", `${method}=@${file(`${method}.reply`, JSON.stringify(result))}`);
  }
  for (const [method, line] of Object.entries(raw)) args.push("--raw", `${method}=@${file(`${method}.raw`, line)}`);
  if (misbehave) args.push("--misbehave", misbehave);
  if (count) args.push("--count", String(count));
  return args;
}

/**
 * Opens the page like the window does, and records the pauses of its heartbeat. Returns the list to which exceptions of
 * the page are added.
 */
async function open(page: Page, host: DevHost): Promise<string[]> {
  const faults = recordFaults(page);
  await page.addInitScript("Object.freeze(Object.prototype)");
  await page.addInitScript(
    // The real time, even in a test that controls the clock of the page.
    `{ const time = performance.now.bind(performance); let last = time(); window.pauses = [];
       setInterval(() => { const now = time(); window.pauses.push(Math.max(0, now - last - ${HEARTBEAT_INTERVAL_MS})); last = now; }, ${HEARTBEAT_INTERVAL_MS}); }`,
  );
  await page.goto(host.url);
  await expect(page.getByRole("banner"), "the page should show its title bar").toBeVisible();
  return faults;
}

/** Waits until the page has painted its current state and a heartbeat has followed, which records the last pause. */
export async function beats(page: Page): Promise<void> {
  await nextFrame(page);
  const count = () => page.evaluate("window.pauses.length") as Promise<number>;
  const beatsBefore = await count();
  await expect.poll(count, "the page should respond again").toBeGreaterThan(beatsBefore + 1);
}

/** Asserts that the secret in the host's environment is in no file, not on the page, and not in the host's log. */
async function assertNoSecretLeaks(what: string, page: Page, host: DevHost): Promise<void> {
  expect((await page.content()).includes(CANARY), `${what}: the page should contain no secret`).toBe(false);
  expect(host.logged().includes(CANARY), `${what}: the log should contain no secret`).toBe(false);
  for (const name of readdirSync(host.folder, { recursive: true, encoding: "utf8" })) {
    const path = join(host.folder, name);
    if (!statSync(path).isFile()) continue;
    expect(readFileSync(path, "latin1").includes(CANARY), `${what}: ${name} should contain no secret`).toBe(false);
  }
}

function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

/** Prints a row for the table of `cargo xtask hostile`. */
function row(what: string, measured: Record<string, number> | null): void {
  const table = process.env.HOSTILE_TABLE;
  const [, id, tried] = /^(X\d+),? ?(.*)$/s.exec(what) ?? [];
  if (!table || !id) return;
  appendFileSync(table, `${JSON.stringify({ case: id, tried, withstood: measured !== null, measured })}\n`);
}

/** Calls the tool `show` in the page, approves the call as the user, and waits for its result. */
export async function show(app: Page): Promise<void> {
  await visit(app, "#/server/bad/tools/show");
  await app.getByRole("button", { name: "Call", exact: true }).click();
  await allow(app, "Allow once");
  await expect(app.getByTestId("tool-result")).toHaveAttribute("data-state", /done|tool_error|failed/, { timeout: 30_000 });
}

/**
 * Matches hidden and control characters: tag characters, bidirectional controls, zero-width characters, and control
 * characters.
 */
const HIDDEN_OR_CONTROL_CHARACTER = /[\u{e0000}-\u{e007f}\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/u;

/** Asserts that no rendered text or title contains a hidden or control character. */
export async function assertNothingHidden(app: Page, what: string): Promise<void> {
  const texts = (await app.evaluate(() => {
    const titles = (element: Element) => ["title", "aria-label", "placeholder"].map((name) => element.getAttribute(name));
    return [document.body.textContent, ...[...document.querySelectorAll("*")].flatMap(titles)].filter((text) => text !== null);
  })) as string[];
  for (const found of texts) {
    const at = HIDDEN_OR_CONTROL_CHARACTER.exec(found);
    const around = at ? JSON.stringify(found.slice(Math.max(0, at.index - 40), at.index + 40)) : "";
    expect(around, `${what}: hidden and control characters should be replaced by visible names`).toBe("");
  }
}
