// Processes of this run, identified by their environment.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

/** Command line of a child process that runs for hours unless it is ended together with its server. */
export const CHILD = "sleep 17461";

/** Returns the id and command line of each process whose `HOME` is this one and whose command line contains `part`. */
export function processes(home, part) {
  const found = [];
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
      if (command.includes(part) && environment.includes(`HOME=${home}`)) found.push({ pid: Number(pid), command });
    } catch {
      // The process ended in the meantime, or belongs to another user.
    }
  }
  return found;
}

/**
 * Waits until no process with this `HOME` and `part` in its command line is left, or until the timeout. Resolves to the
 * remaining processes.
 */
export async function waitForNone(home, part, milliseconds) {
  const end = Date.now() + milliseconds;
  let remaining = processes(home, part);
  while (remaining.length > 0 && Date.now() < end) {
    await wait(50);
    remaining = processes(home, part);
  }
  return remaining;
}

/**
 * Waits until a killed process has ended with all of its threads and released its resources. It may still be a zombie
 * afterwards.
 */
export async function waitForExit(pid, milliseconds) {
  const end = Date.now() + milliseconds;
  while (!isOver(pid) && Date.now() < end) await wait(20);
  return isOver(pid);
}

function isOver(pid) {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8")) && readdirSync(`/proc/${pid}/task`).length <= 1;
  } catch {
    return true;
  }
}

/** Kills a process. Has no effect if the process has already ended. */
export function kill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process ended in the meantime.
  }
}
