// Soak test: fifty servers, random calls, a user who decides, servers and hosts killed at random. `cargo xtask soak`
// builds the required programs. Manually: node tests/soak/run.mjs MINUTES [SEED]
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { CHILD, kill, processes } from "../desktop/processes.mjs";
import { assertChainComplete, assertMemoryConstant, mib, assertNoOrphans, assertNothingLost } from "./checks.mjs";
import { WITH_CHILD, children, waitForChildren } from "./children.mjs";
import { Host } from "./host.mjs";
import { Load } from "./load.mjs";
import { Random } from "./random.mjs";

const SERVER_COUNT = 50;
/**
 * Limit of each server's activity log in bytes. Small enough to be reached within seconds, so that later growth is a
 * leak.
 */
const MAX_ACTIVITY_LOG_BYTES = 64 * 1024;
/** Minimum number of successful calls per second, below which the load is not meaningful. */
const MIN_RESULTS_PER_SECOND = 3;
const BINARIES = join(resolve(dirname(fileURLToPath(import.meta.url)), "../.."), "target/debug");
const SCRIPTED = join(BINARIES, "scripted-server");

const minutes = Number(process.argv[2] ?? 5);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 32);
const random = new Random(seed);
console.log(`${minutes} minutes, seed ${seed}`);

const home = realpathSync(mkdtempSync(join(tmpdir(), "drawbridge-soak-")));
// After a failure or an interruption, processes may keep running. Like in the tests, they are found by their home.
process.once("exit", () => {
  for (const { pid } of processes(home, "")) kill(pid);
  rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
const [config, data, platform] = ["mcp.json", "data", "platform"].map((name) => join(home, name));
for (const folder of [data, platform]) mkdirSync(folder);
const names = Array.from({ length: SERVER_COUNT }, (_, number) => `server-${String(number + 1).padStart(2, "0")}`);
// Every fifth server violates the protocol in each call and continues.
const faults = ["flood-log", "stderr-garbage", "duplicate-answer", "unknown-notification", "escapes"];
// Two more of five start a child process.
function server(number) {
  const kind = number % 5;
  if (kind === 0) return { command: SCRIPTED, args: ["--count", "200", "--misbehave", faults[(number / 5) % faults.length]] };
  if (kind <= WITH_CHILD.length) return { command: "/bin/sh", args: ["-c", WITH_CHILD[kind - 1], SCRIPTED] };
  return { command: SCRIPTED, args: [] };
}
writeFileSync(config, JSON.stringify({ mcpServers: Object.fromEntries(names.map((name, number) => [name, server(number)])) }));
writeFileSync(join(data, "settings.json"), JSON.stringify({ limits: { keptBytes: MAX_ACTIVITY_LOG_BYTES } }));

const host = new Host(
  join(BINARIES, "dev-host"),
  ["--port", "0", "--config", config, "--data-dir", data, "--platform-dir", platform],
  { ...process.env, HOME: home, XDG_CONFIG_HOME: join(home, "config"), XDG_DATA_HOME: join(home, "share") },
);
const problems = [];
function found(problem, when) {
  if (!problem) return;
  problems.push(`${when}: ${problem}`);
  console.log(`FAILED  ${when}: ${problem}`);
}

let samples = [];
/** Runs the load for this time, and samples the memory of the host. */
async function runs(milliseconds) {
  const end = Date.now() + milliseconds;
  while (Date.now() < end) {
    await wait(1_000);
    if (host.hasEnded) throw new Error(`the host ended by itself: ${host.errors}`);
    samples.push(host.memory());
  }
}

try {
  await host.start();
  const { id } = await host.call("create_conversation", { title: "Soak" });
  const load = new Load(host, names, random, id, home);
  load.start();
  // Kills happen in the first half only. The second half shows if memory is constant.
  const kills = Math.max(1, Math.round(minutes));
  for (let number = 1; number <= kills; number++) {
    await runs((minutes * 30_000) / kills + random.below(1_000));
    const started = [...children(home).keys()];
    if (started.length === 0) found("no server has a child, so nothing is tried of how they end", `kill ${number}`);
    await host.kill();
    load.forgetChildren();
    found(await assertNoOrphans(home, SCRIPTED), `kill ${number}`);
    await host.start();
    // The restarted host ends orphans of the killed one.
    const left = await waitForChildren(home, started, 10_000);
    if (left.length > 0) found(`children of servers outlive their host: ${left.join(", ")}`, `after kill ${number}`);
    found(await assertNothingLost(host, load), `after kill ${number}`);
    found(await assertChainComplete(host), `after kill ${number}`);
    console.log(`killed ${number} of ${kills} times and started again; ${JSON.stringify(load.counts)}`);
  }
  samples = [];
  await runs(minutes * 30_000);
  const { activityLog } = await host.call("read_limits_usage", { server: names[0] });
  const { limit } = activityLog;
  if (limit !== MAX_ACTIVITY_LOG_BYTES) found(`${limit} bytes of activity are kept, and hide what else grows`, "at the end");
  const memory = assertMemoryConstant(samples);
  await load.stop();
  found(memory, "at the end");
  found(await assertNothingLost(host, load), "at the end");
  found(await assertChainComplete(host), "at the end");
  found(load.faults.problem(), "all the while");
  for (const turn of host.longTurns) found(turn, "all the while");
  const { lateChildren, counts } = load;
  if (lateChildren.length > 0) found(`children outlive a killed server: ${lateChildren.join(", ")}`, "all the while");
  const least = MIN_RESULTS_PER_SECOND * 60 * minutes;
  if (counts.results < least) found(`only ${counts.results} of ${counts.calls} calls were answered, not ${least}`, "at the end");
  if (counts.results < counts.calls / 2) found(`of ${counts.calls} calls only ${counts.results} were answered`, "at the end");
  for (const [what, aMinute] of Object.entries({ kills: 10, killedWithChild: 1, notes: 60, answers: 60 })) {
    if (counts[what] < aMinute * minutes) found(`only ${counts[what]} ${what} in ${minutes} minutes`, "at the end");
  }
  const largest = Math.max(...samples);
  console.log(`memory ${mib(samples[0])} MiB after the start, ${mib(samples.at(-1))} at the end, ${mib(largest)} at most`);
  console.log(`all servers were ready again; ${JSON.stringify(counts)}`);
  console.log(`failures that were expected: ${JSON.stringify(load.faults.expected)}`);
  found((await host.stop()) ? null : "it took longer than 10 s", "closing the host");
  found(await assertNoOrphans(home, SCRIPTED), "at the end");
  found(await assertNoOrphans(home, CHILD), "at the end");
} catch (error) {
  found(error.stack, "the run itself");
}
console.log(problems.length === 0 ? "the soak passed" : `${problems.length} problems; the same again: seed ${seed}`);
process.exit(problems.length === 0 ? 0 : 1);
