// What must hold at the end, and each time that the host is there again.
import { noneLeft } from "../desktop/processes.mjs";

/** Nothing of the host's servers runs on after it was killed. */
export async function noOrphans(home, servers) {
  const left = await noneLeft(home, servers, 10_000);
  return left.length === 0 ? null : `${left.length} servers outlive their host: ${left.map(({ pid }) => pid).join(", ")}`;
}

/** Whatever was acknowledged is there: each note, and each answer in the audit log. */
export async function nothingLost(host, load) {
  // What is acknowledged from now on may come after what is read.
  const [noted, answered] = [[...load.noted], [...load.answered.keys()]];
  const { items } = await host.call("conversation", { conversation: load.conversation });
  const kept = new Set(items.map((item) => item.id));
  const lost = noted.filter((text) => !kept.has(text));
  if (lost.length > 0) return `${lost.length} notes are lost, the first is ${lost[0]}`;
  const written = await audited(host);
  const missing = answered.filter((hash) => !written.has(hash));
  if (missing.length > 0) return `${missing.length} decisions are not in the audit log, the first is over ${missing[0]}`;
  return null;
}

/** The audit log's chain is whole: what was written stays as it was, in its order. */
export async function chainWhole(host) {
  const outcome = await host.call("verify_audit");
  return outcome.whole ? null : `the audit log is not whole: ${JSON.stringify(outcome)}`;
}

/** The hashes of all decisions. */
async function audited(host) {
  const hashes = new Set();
  let before = null;
  for (;;) {
    const { entries, more } = await host.call("audit", { limit: 500, before });
    for (const entry of entries) hashes.add(entry.hash);
    if (!more || entries.length === 0) return hashes;
    before = entries.at(-1).number;
  }
}

/** Memory stays where it is: the middle of the last quarter beside that of the second one. */
export function flat(samples) {
  const quarter = Math.floor(samples.length / 4);
  if (quarter < 2) return "there are too few samples of memory";
  const early = middle(samples.slice(quarter, 2 * quarter));
  const late = middle(samples.slice(-quarter));
  const allowed = early * 1.2 + 32 * 2 ** 20;
  return late <= allowed ? null : `memory grew from ${mib(early)} to ${mib(late)} MiB`;
}

function middle(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

export function mib(bytes) {
  return Math.round(bytes / 2 ** 20);
}
