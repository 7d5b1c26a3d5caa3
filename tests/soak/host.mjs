// The development host as a process that may be killed, and what it is asked over HTTP.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

/** No command may take longer, in milliseconds: a host that hangs is no host. */
const PATIENCE = 60_000;
/** No turn of the owner may take longer, in milliseconds. */
const LONGEST_TURN = 50;
/** What a debug build logs of long turns (crates/host/src/owner/turn.rs). */
const LONG_TURN = /a turn of the owner took (\d+) ms/;
/** The most long turns that are kept. */
const MOST_TURNS = 20;

export class Host {
  /** Where it listens; empty while it does not run. */
  url = "";
  /** How often it was ended: what began in another run could not be answered. */
  run = 0;
  /** The lines about turns of the owner that were too long. */
  longTurns = [];
  #process;
  #errors = "";

  /**
   * @param {string} program The development host.
   * @param {string[]} args Its folders.
   * @param {Record<string, string>} env Its environment.
   */
  constructor(program, args, env) {
    this.start = async () => {
      this.#process = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], env });
      createInterface({ input: this.#process.stderr }).on("line", (line) => {
        this.#errors = `${this.#errors}${line}\n`.slice(-4000);
        const took = Number(LONG_TURN.exec(line)?.[1] ?? 0);
        if (took > LONGEST_TURN && this.longTurns.length < MOST_TURNS) this.longTurns.push(line);
      });
      const [line] = await Promise.race([
        once(createInterface({ input: this.#process.stdout }), "line"),
        once(this.#process, "exit").then(() => [""]),
      ]);
      this.url = /^listening on (http:\S+)$/.exec(line)?.[1] ?? "";
      if (!this.url) throw new Error(`the host did not start: ${line} ${this.#errors}`);
    };
  }

  get pid() {
    return this.#process.pid;
  }

  get errors() {
    return this.#errors;
  }

  /** Whether it ended though nobody ended it. */
  get hasEnded() {
    return this.url !== "" && (this.#process.exitCode !== null || this.#process.signalCode !== null);
  }

  /** The response of a command; throws with the host's words if it is refused. */
  async call(name, request = {}) {
    const response = await fetch(`${this.url}/api/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(request),
      signal: AbortSignal.timeout(PATIENCE),
    });
    const body = await response.json();
    if (!response.ok) throw new Refused(name, body);
    return body;
  }

  /** Ends it without a word. */
  async kill() {
    this.run += 1;
    this.url = "";
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await ended;
  }

  /** Ends it as closing the app does; false if that takes longer than 10 s. */
  async stop() {
    this.run += 1;
    this.url = "";
    const ended = once(this.#process, "exit").then(() => true);
    this.#process.stdin.end();
    const late = new Promise((resolve) => setTimeout(resolve, 10_000, false).unref());
    const inTime = await Promise.race([ended, late]);
    if (!inTime) this.#process.kill("SIGKILL");
    return inTime;
  }

  /** Its resident memory in bytes. */
  memory() {
    const status = readFileSync(`/proc/${this.pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  }
}

/** The host said no, in words. */
export class Refused extends Error {
  constructor(name, body) {
    super(`${name}: ${JSON.stringify(body)}`);
    this.code = body.code;
  }
}
