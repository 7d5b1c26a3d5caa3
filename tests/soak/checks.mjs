// What must hold at the end, and each time that the host is there again.
import { noneLeft } from "../desktop/processes.mjs";

/** Nothing that fits runs on after the host was ended. */
export async function noOrphans(home, part) {
  const left = await noneLeft(home, part, 10_000);
  if (left.length === 0) return null;
  return `${left.length} processes outlive their host: ${left.map(({ pid, command }) => `${pid} ${command}`).join(", ")}`;
}

/** Whatever was acknowledged is there: notes, answers and results in the audit log, approvals. */
export async function nothingLost(host, load) {
  // What is acknowledged from now on may come after what is read.
  const [noted, results, granted] = [[...load.noted], [...load.results], [...load.granted]];
  const answered = [...load.answered];
  const kept = new Set((await allItems(host, load.conversation)).map((item) => item.id));
  const { grants } = await host.call("grants");
  const standing = new Set(grants.map(({ server, tool }) => approval(server, tool)));
  const written = await audited(host);
  const lost = {
    notes: noted.filter((text) => !kept.has(text)),
    // Some answers are over the same, such as a start that is asked for again: then each has an entry of its own.
    "answers in the audit log": answered.filter(([hash, count]) => (written.answers.get(hash) ?? 0) < count),
    "results in the audit log": results.filter((call) => !written.calls.has(call)),
    "standing approvals": granted.filter((one) => !standing.has(one)),
  };
  const words = Object.entries(lost).filter(([, of]) => of.length > 0);
  if (words.length === 0) return null;
  return `lost: ${words.map(([what, of]) => `${of.length} ${what}, the first is ${of[0]}`).join("; ")}`;
}

/** All items of a conversation, the latest first by pages. */
async function allItems(host, conversation) {
  const { items, hasMore } = await host.call("conversation", { conversation });
  for (let more = hasMore; more; ) {
    const page = await host.call("items", { conversation, before: items[0].id, limit: 500 });
    items.unshift(...page.items);
    more = page.hasMore;
  }
  return items;
}

/** How a standing approval is known. */
export function approval(server, tool) {
  return `${server} ${tool ?? "its start"}`;
}

/** The audit log's chain is whole and sealed to its end: what was written stays as it was, and nobody else wrote any of it. */
export async function chainWhole(host) {
  const outcome = await host.call("verify_audit");
  const holds = outcome.seal.state === "holds" && outcome.seal.number === outcome.last;
  const proved = outcome.whole && outcome.proved && holds && outcome.entries > 0;
  return proved ? null : `the audit log is not proved to be whole: ${JSON.stringify(outcome)}`;
}

/** How often the user's decisions are in the log, by their hash, and the calls that were let through. */
async function audited(host) {
  const [answers, calls] = [new Map(), new Set()];
  let before = null;
  for (;;) {
    const { entries, more } = await host.call("audit", { limit: 500, before });
    for (const { by, hash, kind, decision, content } of entries) {
      if (by === "user") answers.set(hash, (answers.get(hash) ?? 0) + 1);
      const call = kind === "tool" && decision === "allowed" ? /call-\d+/.exec(content)?.[0] : undefined;
      if (call) calls.add(call);
    }
    if (!more || entries.length === 0) return { answers, calls };
    before = entries.at(-1).number;
  }
}

/** Memory stays where it is: the middle of the last quarter beside that of the second one. Takes the first as time to fill up. */
export function flat(samples) {
  const quarter = Math.floor(samples.length / 4);
  if (quarter < 2) return "there are too few samples of memory";
  const early = middle(samples.slice(quarter, 2 * quarter));
  const late = middle(samples.slice(-quarter));
  // Activity is full by then, so nothing is left that should grow; an allocator's parts do a little.
  const allowed = early * 1.05 + 8 * 2 ** 20;
  return late <= allowed ? null : `memory grew from ${mib(early)} to ${mib(late)} MiB`;
}

function middle(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

export function mib(bytes) {
  return Math.round(bytes / 2 ** 20);
}
