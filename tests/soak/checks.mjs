// Checks at the end, and after each restart of the host.
import { waitForNone } from "../desktop/processes.mjs";

/** Asserts that no process with this home folder and `part` in its command line is running after the host has ended. */
export async function assertNoOrphans(home, part) {
  const remaining = await waitForNone(home, part, 10_000);
  if (remaining.length === 0) return null;
  return `${remaining.length} processes outlive their host: ${remaining.map(({ pid, command }) => `${pid} ${command}`).join(", ")}`;
}

/**
 * Asserts that everything the host has acknowledged is stored: messages, decisions and results in the audit log, and
 * approvals.
 */
export async function assertNothingLost(host, load) {
  // Data acknowledged from now on may be missing in the following reads.
  const [messages, results, granted] = [[...load.storedMessages], [...load.results], [...load.granted]];
  const answered = [...load.answered];
  const storedIds = new Set((await allItems(host, load.conversation)).map((item) => item.id));
  const { grants } = await host.call("list_grants");
  const grantKeys = new Set(grants.map(({ server, tool }) => grantKey(server, tool)));
  const written = await audited(host);
  const lost = {
    notes: messages.filter((text) => !storedIds.has(text)),
    // Some decisions cover the same hash, such as a repeated start. Each has a separate entry.
    "answers in the audit log": answered.filter(([hash, count]) => (written.answers.get(hash) ?? 0) < count),
    "results in the audit log": results.filter((call) => !written.calls.has(call)),
    "standing approvals": granted.filter((one) => !grantKeys.has(one)),
  };
  const words = Object.entries(lost).filter(([, of]) => of.length > 0);
  if (words.length === 0) return null;
  return `lost: ${words.map(([what, of]) => `${of.length} ${what}, the first is ${of[0]}`).join("; ")}`;
}

/** Reads all items of a conversation page by page, latest first. */
async function allItems(host, conversation) {
  const { items, hasMore } = await host.call("read_conversation", { conversation });
  for (let more = hasMore; more; ) {
    const page = await host.call("read_conversation_items", { conversation, before: items[0].id, limit: 500 });
    items.unshift(...page.items);
    more = page.hasMore;
  }
  return items;
}

/** Returns the key by which a grant is compared. */
export function grantKey(server, tool) {
  return `${server} ${tool ?? "its start"}`;
}

/**
 * Asserts that the hash chain of the audit log is complete and sealed, so that no other process has changed or added
 * entries.
 */
export async function assertChainComplete(host) {
  const outcome = await host.call("verify_audit_log");
  const isIntact = outcome.seal.state === "holds" && outcome.seal.number === outcome.last;
  const proved = outcome.whole && outcome.proved && isIntact && outcome.entries > 0;
  return proved ? null : `the audit log is not proved to be whole: ${JSON.stringify(outcome)}`;
}

/** Counts the user's decisions in the audit log by hash, and the allowed calls. */
async function audited(host) {
  const [answers, calls] = [new Map(), new Set()];
  let before = null;
  for (;;) {
    const { entries, more } = await host.call("read_audit_log", { limit: 500, before });
    for (const { by, hash, kind, decision, content } of entries) {
      if (by === "user") answers.set(hash, (answers.get(hash) ?? 0) + 1);
      const call = kind === "tool" && decision === "allowed" ? /call-\d+/.exec(content)?.[0] : undefined;
      if (call) calls.add(call);
    }
    if (!more || entries.length === 0) return { answers, calls };
    before = entries.at(-1).number;
  }
}

/**
 * Asserts that memory is constant, by comparing the medians of the second and the last quarter of the samples. The
 * first quarter is warm-up.
 */
export function assertMemoryConstant(samples) {
  const quarter = Math.floor(samples.length / 4);
  if (quarter < 2) return "there are too few samples of memory";
  const secondQuarter = middle(samples.slice(quarter, 2 * quarter));
  const lastQuarter = middle(samples.slice(-quarter));
  // The activity logs are full by then, so nothing should grow except for a little allocator fragmentation.
  const allowed = secondQuarter * 1.05 + 8 * 2 ** 20;
  return lastQuarter <= allowed ? null : `memory grew from ${mib(secondQuarter)} to ${mib(lastQuarter)} MiB`;
}

function middle(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

export function mib(bytes) {
  return Math.round(bytes / 2 ** 20);
}
