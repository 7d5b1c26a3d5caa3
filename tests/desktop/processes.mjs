// The processes of this run, by a variable that only they have in their environment.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

/** What a server leaves behind when only itself is ended: a process of its own, that would run for hours. */
export const CHILD = "sleep 17461";

/** Id and command line of each process whose environment has `HOME` set so, and whose command line has `part`. */
export function processes(home, part) {
  const found = [];
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
      if (command.includes(part) && environment.includes(`HOME=${home}`)) found.push({ pid: Number(pid), command });
    } catch {
      // It ended in between, or is another user's.
    }
  }
  return found;
}

/** Waits until none is left, at most so long; those that are. */
export async function noneLeft(home, part, milliseconds) {
  const end = Date.now() + milliseconds;
  let left = processes(home, part);
  while (left.length > 0 && Date.now() < end) {
    await wait(50);
    left = processes(home, part);
  }
  return left;
}

/** Waits until a killed process is over with all its threads, and so has let go of all it held; its parent may not have asked yet. */
export async function over(pid, milliseconds) {
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

/** Ends a process at once, if it is still there. */
export function kill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended in between.
  }
}
