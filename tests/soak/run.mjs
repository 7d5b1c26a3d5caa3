// Fifty servers, random calls, a user who answers, servers killed at random, the host killed and started again. `cargo xtask soak`
// builds what it needs; by hand: node tests/soak/run.mjs MINUTES [SEED]
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { kill, processes } from "../desktop/processes.mjs";
import { chainWhole, flat, mib, noOrphans, nothingLost } from "./checks.mjs";
import { Host } from "./host.mjs";
import { Load } from "./load.mjs";
import { Random } from "./random.mjs";

const SERVERS = 50;
const BINARIES = join(resolve(dirname(fileURLToPath(import.meta.url)), "../.."), "target/debug");
const SCRIPTED = join(BINARIES, "scripted-server");

const minutes = Number(process.argv[2] ?? 5);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 32);
const random = new Random(seed);
console.log(`${minutes} minutes, seed ${seed}`);

const home = realpathSync(mkdtempSync(join(tmpdir(), "drawbridge-soak-")));
const [config, data, platform] = ["mcp.json", "data", "platform"].map((name) => join(home, name));
for (const folder of [data, platform]) mkdirSync(folder);
const names = Array.from({ length: SERVERS }, (_, number) => `server-${String(number + 1).padStart(2, "0")}`);
// Every fifth does something that it should not with each call, and goes on.
const faults = ["flood-log", "stderr-garbage", "duplicate-answer", "unknown-notification", "escapes"];
const args = (number) => (number % 5 ? [] : ["--count", "200", "--misbehave", faults[(number / 5) % faults.length]]);
const mcpServers = Object.fromEntries(names.map((name, number) => [name, { command: SCRIPTED, args: args(number) }]));
writeFileSync(config, JSON.stringify({ mcpServers }));

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
/** Lets it run, with an eye on its memory. */
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
  const load = new Load(host, names, random, id);
  load.start();
  // Killed some times in the first half; the second half shows whether memory stays.
  const kills = Math.max(1, Math.round(minutes));
  for (let number = 1; number <= kills; number++) {
    await runs((minutes * 30_000) / kills + random.below(1_000));
    await host.kill();
    found(await noOrphans(home, SCRIPTED), `kill ${number}`);
    await host.start();
    found(await nothingLost(host, load), `after kill ${number}`);
    found(await chainWhole(host), `after kill ${number}`);
    console.log(`ok      killed ${number} of ${kills} times and started again; ${JSON.stringify(load.counts)}`);
  }
  samples = [];
  await runs(minutes * 30_000);
  await load.stop();
  found(await nothingLost(host, load), "at the end");
  found(await chainWhole(host), "at the end");
  found(flat(samples), "at the end");
  const { servers } = await host.call("snapshot");
  const ready = servers.filter((server) => server.state.is === "ready").length;
  console.log(`memory ${mib(samples[0])} MiB after the start, ${mib(samples.at(-1))} at the end, ${mib(Math.max(...samples))} at most`);
  console.log(`${ready} of ${SERVERS} servers are ready; ${JSON.stringify(load.counts)}`);
  if (load.counts.results < 10 * minutes) found(`only ${load.counts.results} calls were answered`, "at the end");
  found((await host.stop()) ? null : "it took longer than 10 s", "closing the host");
  found(await noOrphans(home, SCRIPTED), "at the end");
} catch (error) {
  found(error.stack, "the run itself");
} finally {
  // After a failure something may run on, which is found by its home.
  for (const { pid } of processes(home, "")) kill(pid);
  rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
console.log(problems.length === 0 ? "the soak passed" : `${problems.length} problems; the same again: seed ${seed}`);
process.exit(problems.length === 0 ? 0 : 1);
