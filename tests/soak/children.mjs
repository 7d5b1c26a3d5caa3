// Children of servers, which must end with their server.
import { readFileSync } from "node:fs";

import { CHILD, processes } from "../desktop/processes.mjs";

/** Prefixes of shell commands that start a child process, and then replace the shell with the server. */
export const WITH_CHILD = [
  // In the process group of the server, ignoring signals.
  `(trap "" TERM INT HUP; exec ${CHILD}) </dev/null >/dev/null 2>&1 & exec "$0" "$@"`,
  // In a separate session, out of reach of signals to the server's group.
  `setsid ${CHILD} </dev/null >/dev/null 2>&1 & exec "$0" "$@"`,
];

/** Returns the running child processes, by their unique names. */
export function children(home) {
  const found = new Map();
  for (const { pid } of processes(home, CHILD)) {
    const process = processInfo(pid);
    if (process) found.set(`${pid} since ${process.since}`, { pid, parent: process.parent });
  }
  return found;
}

/** Returns the child processes of one server. */
export function childrenOf(home, server) {
  return [...children(home)].filter(([, { parent }]) => parent === server).map(([name]) => name);
}

/** Waits until these child processes have ended, or until the timeout. Resolves to the remaining ones. */
export async function waitForChildren(home, names, milliseconds) {
  const end = Date.now() + milliseconds;
  for (;;) {
    const now = children(home);
    const remaining = names.filter((name) => now.has(name));
    if (remaining.length === 0 || Date.now() > end) return remaining;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Returns the parent id and the start time of a process. */
function processInfo(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // After the name, which may contain spaces: state, parent, and as the twentieth field the start time.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { parent: Number(fields[1]), since: fields[19] };
  } catch {
    return null; // The process ended in the meantime.
  }
}
