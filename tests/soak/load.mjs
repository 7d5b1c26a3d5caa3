// Load on the host: random calls, a user who decides all consent requests, messages in a conversation, and servers that
// are killed. Records everything that the host has acknowledged.
import { setTimeout as wait } from "node:timers/promises";

import { grantKey } from "./checks.mjs";
import { children, childrenOf } from "./children.mjs";
import { Faults } from "./faults.mjs";

/** Number of concurrent calls. */
const CALLER_COUNT = 16;
/** Timeout of a call in milliseconds. */
const CALLS_END_TIMEOUT_MS = 90_000;
/** Timeout in milliseconds for all servers to run again. */
const SETTLE_TIMEOUT_MS = 60_000;
/** Timeout in milliseconds for the children of a killed server to end. */
const CHILDREN_END_TIMEOUT_MS = 10_000;

export class Load {
  /** Number of accepted decisions by hash of the payload. */
  answered = new Map();
  /** Keys of the permanent approvals that the host has accepted. */
  granted = new Set();
  /** Ids of the calls with a result. */
  results = new Set();
  /** Texts of the messages that the host has added to the conversation. */
  storedMessages = [];
  counts = { calls: 0, results: 0, answers: 0, notes: 0, kills: 0, killedWithChild: 0 };
  faults = new Faults();
  /** Child processes of killed servers that ended too late. */
  lateChildren = [];
  /** Names of the servers that were ready at the last check. */
  #ready = [];
  #orphaned = new Map();
  #does = { calls: true, kills: true, others: true };
  #callers = [];
  #killers = [];
  #otherActors = [];
  #number = 0;

  constructor(host, names, random, conversation, home) {
    this.host = host;
    this.names = names;
    this.random = random;
    this.conversation = conversation;
    this.home = home;
  }

  /** Runs the load until `stop` is called. All actors pause while the host is not running. */
  start() {
    this.#otherActors = [this.#answers(), this.#notes(), this.#restarts(), this.#looksForChildren()];
    this.#killers = [this.#kills()];
    this.#callers = Array.from({ length: CALLER_COUNT }, () => this.#calls());
  }

  /**
   * Stops the load. Pending calls need decisions, so the callers stop first. Afterwards all servers must be running.
   * Throws on a timeout.
   */
  async stop() {
    this.#does.calls = this.#does.kills = false;
    await within(CALLS_END_TIMEOUT_MS, "calls that were begun do not end", Promise.all([...this.#callers, ...this.#killers]));
    await this.#settled();
    await wait(CHILDREN_END_TIMEOUT_MS); // Includes the check of the last killed server.
    this.#does.others = false;
    await within(CALLS_END_TIMEOUT_MS, "what was begun does not end", Promise.all(this.#otherActors));
  }

  /** Forgets the child processes of all servers, because the host was killed. The caller checks that they end. */
  forgetChildren() {
    this.#orphaned.clear();
  }

  /**
   * Repeats an action with pauses. The action may fail because the host was killed in the meantime, or with one of
   * these error codes.
   */
  async #repeat(who, pause, act, codes = [], part = "others") {
    while (this.#does[part]) {
      const { url, run } = this.host;
      if (url) {
        try {
          await act();
        } catch (error) {
          if (this.host.run !== run) this.faults.expect(`${who} host_killed`);
          else this.faults.sort(who, error, codes);
        }
      }
      await wait(pause());
    }
  }

  #calls() {
    return this.#repeat(
      "call",
      () => this.random.below(40),
      async () => {
        if (this.#ready.length === 0) return;
        const server = this.random.of(this.#ready);
        const call = `call-${this.#number++}`;
        // Each call is unique, so that its entry in the audit log can be found.
        const [tool, args] = this.random.of([
          ["echo", { text: call }],
          ["echo", { text: `${call} ${"x".repeat(this.random.below(20_000))}` }],
          ["wait", { call, milliseconds: this.random.below(300) }],
        ]);
        this.counts.calls += 1;
        // Occasionally a call is cancelled. Its caller receives the error.
        if (this.random.below(20) === 0) {
          setTimeout(() => void this.host.call("cancel_call", { call }).catch(() => undefined), 50).unref();
        }
        await this.host.call("call_tool", { call, server, tool, arguments: args, conversation: null });
        this.results.add(call);
        this.counts.results += 1;
      },
      // Denied, cancelled, or its server was killed.
      ["refused", "cancelled", "not_ready", "server_gone"],
      "calls",
    );
  }

  #answers() {
    return this.#repeat(
      "user",
      () => 30,
      async () => {
        const { consentRequests, servers } = await this.host.call("read_snapshot");
        // A server whose tools are not listed yet can't be called.
        const offers = (server) => server.state.is === "ready" && server.counts.tools > 0;
        this.#ready = servers.filter(offers).map((server) => server.name);
        for (const { id, hash, server, body } of consentRequests) {
          const answer = this.#answer(body.kind);
          try {
            await this.host.call("decide_consent_request", { id, hash, answer });
          } catch (error) {
            // The request may have changed or closed. A decision on a closed request has no effect.
            if (!["stale", "not_found"].includes(error.code)) throw error;
            this.faults.expect(`answer ${error.code}`);
            continue;
          }
          this.answered.set(hash, (this.answered.get(hash) ?? 0) + 1);
          if (answer.scope === "always") this.granted.add(grantKey(server, body.kind === "tool" ? body.tool : null));
          this.counts.answers += 1;
        }
      },
    );
  }

  #answer(kind) {
    if (kind === "start_server") return { action: "allow", scope: "always" };
    if (kind !== "tool") return { action: "deny" };
    const chance = this.random.below(100);
    if (chance < 10) return { action: "deny" };
    return { action: "allow", scope: chance < 15 ? "always" : "once" };
  }

  #notes() {
    return this.#repeat(
      "note",
      () => 100,
      async () => {
        const text = `note-${this.#number++}`;
        const body = { kind: "message", role: "user", content: [{ type: "text", text }], prompt: null };
        const items = [{ id: text, at: Date.now(), body }];
        await this.host.call("append_items", { conversation: this.conversation, items });
        this.storedMessages.push(text);
        this.counts.notes += 1;
      },
    );
  }

  #kills() {
    return this.#repeat(
      "kill",
      () => 500 + this.random.below(2_000),
      async () => {
        const { servers } = await this.host.call("read_snapshot");
        const running = servers.filter((server) => server.pid !== null);
        if (running.length === 0) return;
        const { pid } = this.random.of(running);
        const started = childrenOf(this.home, pid);
        process.kill(pid, "SIGKILL");
        for (const child of started) this.#orphaned.set(child, Date.now() + CHILDREN_END_TIMEOUT_MS);
        this.counts.kills += 1;
        if (started.length > 0) this.counts.killedWithChild += 1;
      },
      ["ESRCH"], // The process had ended by itself.
      "kills",
    );
  }

  #looksForChildren() {
    return this.#repeat(
      "look for children",
      () => 500,
      () => {
        const now = children(this.home);
        for (const [child, deadline] of this.#orphaned) {
          if (!now.has(child)) this.#orphaned.delete(child);
          else if (Date.now() > deadline) {
            this.#orphaned.delete(child);
            this.lateChildren.push(child);
          }
        }
      },
    );
  }

  /** Starts the servers that have ended and that the host does not restart. */
  #restarts() {
    return this.#repeat(
      "restart",
      () => 1_000,
      async () => {
        const { servers } = await this.host.call("read_snapshot");
        for (const { name, state } of servers) {
          if (["stopped", "failed"].includes(state.is)) await this.host.call("start_server", { server: name });
        }
      },
    );
  }

  /** Waits until all servers are ready. */
  async #settled() {
    const end = Date.now() + SETTLE_TIMEOUT_MS;
    for (;;) {
      const { servers } = await this.host.call("read_snapshot");
      const others = servers.filter((server) => server.state.is !== "ready");
      if (servers.length === this.names.length && others.length === 0) return;
      if (Date.now() > end) {
        const words = others.map(({ name, state }) => `${name} ${JSON.stringify(state)}`);
        throw new Error(`${others.length} of ${servers.length} servers do not become ready: ${words.slice(0, 5).join(", ")}`);
      }
      await wait(500);
    }
  }
}

async function within(milliseconds, otherwise, work) {
  const timeout = new Promise((_, reject) => setTimeout(() => reject(new Error(otherwise)), milliseconds).unref());
  await Promise.race([work, timeout]);
}
