// Development host as a process that can be killed, with its HTTP API.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

/** Timeout of a command in milliseconds, after which the host counts as hanging. */
const COMMAND_TIMEOUT_MS = 60_000;
/** Maximum duration in milliseconds of one turn of the owner, which has the host's state behind one lock. */
const MAX_TURN_MS = 50;
/** Matches the log message of debug builds about long turns (crates/host/src/owner/turn.rs). */
const LONG_TURN_MESSAGE = /a turn of the owner took (\d+) ms/;
/** Maximum number of recorded long turns. */
const MAX_RECORDED_LONG_TURNS = 20;

export class Host {
  /** URL of the host. Empty while it is not running. */
  url = "";
  /** Number of times that the host has ended. A request of an earlier run can't complete. */
  run = 0;
  /** Log messages about long turns of the owner. */
  longTurns = [];
  #process;
  #errors = "";

  /**
   * Sets up a host without starting it.
   * @param {string} program Path of the development host.
   * @param {string[]} args Arguments with its folders.
   * @param {Record<string, string>} env Its environment variables.
   */
  constructor(program, args, env) {
    this.start = async () => {
      this.#process = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], env });
      createInterface({ input: this.#process.stderr }).on("line", (line) => {
        this.#errors = `${this.#errors}${line}\n`.slice(-4000);
        const duration = Number(LONG_TURN_MESSAGE.exec(line)?.[1] ?? 0);
        if (duration > MAX_TURN_MS && this.longTurns.length < MAX_RECORDED_LONG_TURNS) this.longTurns.push(line);
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

  /** `true` if the host has ended without a request of the test. */
  get hasEnded() {
    return this.url !== "" && (this.#process.exitCode !== null || this.#process.signalCode !== null);
  }

  /** Sends a command. Throws the error of the host if it fails. */
  async call(name, request = {}) {
    const response = await fetch(`${this.url}/api/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(request),
      signal: AbortSignal.timeout(COMMAND_TIMEOUT_MS),
    });
    const body = await response.json();
    if (!response.ok) throw new Refused(name, body);
    return body;
  }

  /** Kills the host process. */
  async kill() {
    this.run += 1;
    this.url = "";
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await ended;
  }

  /** Ends the host like closing the app does. Resolves to `false` if that takes longer than 10 s. */
  async stop() {
    this.run += 1;
    this.url = "";
    const ended = once(this.#process, "exit").then(() => true);
    this.#process.stdin.end();
    const timeout = new Promise((resolve) => setTimeout(resolve, 10_000, false).unref());
    const inTime = await Promise.race([ended, timeout]);
    if (!inTime) this.#process.kill("SIGKILL");
    return inTime;
  }

  /** Returns the resident memory of the host in bytes. */
  memory() {
    const status = readFileSync(`/proc/${this.pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  }
}

/** Error that the host returned for a command. */
export class Refused extends Error {
  constructor(name, body) {
    super(`${name}: ${JSON.stringify(body)}`);
    this.code = body.code;
  }
}
