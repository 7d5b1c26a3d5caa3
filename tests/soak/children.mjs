// What servers start beside themselves: it has to end when they do, however they end.
import { readFileSync } from "node:fs";

import { CHILD, processes } from "../desktop/processes.mjs";

/** The beginnings of shell scripts that start a child and then become the server. */
export const WITH_CHILD = [
  // In the server's group, where signals that can be ignored are.
  `(trap "" TERM INT HUP; exec ${CHILD}) </dev/null >/dev/null 2>&1 & exec "$0" "$@"`,
  // In a session of its own, where no signal to the server's group comes.
  `setsid ${CHILD} </dev/null >/dev/null 2>&1 & exec "$0" "$@"`,
];

/** The children that run now: a name that no other process ever has, and which process each is. */
export function children(home) {
  const found = new Map();
  for (const { pid } of processes(home, CHILD)) {
    const process = seen(pid);
    if (process) found.set(`${pid} since ${process.since}`, { pid, parent: process.parent });
  }
  return found;
}

/** Those of one server. */
export function childrenOf(home, server) {
  return [...children(home)].filter(([, { parent }]) => parent === server).map(([name]) => name);
}

/** Waits until none of these is left, at most so long; those that are. */
export async function ended(home, names, milliseconds) {
  const end = Date.now() + milliseconds;
  for (;;) {
    const now = children(home);
    const left = names.filter((name) => now.has(name));
    if (left.length === 0 || Date.now() > end) return left;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Whose child a process is, and since when it runs. */
function seen(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // After the name, which may have spaces: state, parent, and as the twentieth the time of the start.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { parent: Number(fields[1]), since: fields[19] };
  } catch {
    return null; // It ended in between.
  }
}
