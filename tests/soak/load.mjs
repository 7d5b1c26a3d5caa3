// What goes on all the while: random calls, a user who answers whatever is asked, notes in a conversation, and servers that
// are killed. All that the host has acknowledged is written down here.
import { setTimeout as wait } from "node:timers/promises";

/** How many calls are under way at a time. */
const CALLERS = 16;

export class Load {
  /** Hashes of the answers that the host took, and when. */
  answered = new Map();
  /** Texts that the host put into the conversation. */
  noted = [];
  counts = { calls: 0, results: 0, refused: 0, failed: 0, answers: 0, stale: 0, notes: 0, kills: 0 };
  #isCalling = true;
  #goesOn = true;
  #callers = [];
  #others = [];
  #number = 0;

  constructor(host, names, random, conversation) {
    this.host = host;
    this.names = names;
    this.random = random;
    this.conversation = conversation;
  }

  /** Goes on until `stop`; while the host is away everybody waits. */
  start() {
    this.#others = [this.#answers(), this.#notes(), this.#kills(), this.#restarts()];
    this.#callers = Array.from({ length: CALLERS }, () => this.#calls());
  }

  /** A call that was begun needs its answers to end, so the callers come first. */
  async stop() {
    this.#isCalling = false;
    await Promise.all(this.#callers);
    this.#goesOn = false;
    await Promise.all(this.#others);
  }

  /** Does something again and again with pauses; what fails because the host is gone or says no is no fault. */
  async #again(pause, act, goesOn = () => this.#goesOn) {
    while (goesOn()) {
      if (this.host.url) {
        try {
          await act();
        } catch {
          // Killed meanwhile, or refused: whoever needs to know counted it.
        }
      }
      await wait(pause());
    }
  }

  #calls() {
    return this.#again(
      () => this.random.below(40),
      async () => {
        const server = this.random.of(this.names);
        const call = `call-${this.#number++}`;
        const [tool, args] = this.random.of([
          ["echo", { text: call }],
          ["echo", { text: "x".repeat(this.random.below(20_000)) }],
          ["wait", { milliseconds: this.random.below(300) }],
        ]);
        this.counts.calls += 1;
        // Now and then somebody loses patience.
        if (this.random.below(20) === 0) {
          setTimeout(() => void this.host.call("cancel_call", { call }).catch(() => undefined), 50).unref();
        }
        try {
          await this.host.call("call_tool", { call, server, tool, arguments: args, conversation: null });
          this.counts.results += 1;
        } catch (error) {
          this.counts[/refused/i.test(error.message) ? "refused" : "failed"] += 1;
        }
      },
      () => this.#isCalling,
    );
  }

  #answers() {
    return this.#again(
      () => 30,
      async () => {
        const { questions } = await this.host.call("snapshot");
        for (const { id, hash, body } of questions) {
          try {
            await this.host.call("answer_question", { id, hash, answer: this.#answer(body.kind) });
            this.answered.set(hash, Date.now());
            this.counts.answers += 1;
          } catch {
            // Another question by now, or none: an answer to what is no more does nothing.
            this.counts.stale += 1;
          }
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
    return this.#again(
      () => 100,
      async () => {
        const text = `note-${this.#number++}`;
        const body = { kind: "message", role: "user", content: [{ type: "text", text }], prompt: null };
        const items = [{ id: text, at: Date.now(), body }];
        await this.host.call("append_items", { conversation: this.conversation, items });
        this.noted.push(text);
        this.counts.notes += 1;
      },
    );
  }

  #kills() {
    return this.#again(
      () => 500 + this.random.below(2_000),
      async () => {
        const { servers } = await this.host.call("snapshot");
        const running = servers.filter((server) => server.pid !== null);
        if (running.length === 0) return;
        process.kill(this.random.of(running).pid, "SIGKILL");
        this.counts.kills += 1;
      },
    );
  }

  /** What ended and is not brought back is started again. */
  #restarts() {
    return this.#again(
      () => 1_000,
      async () => {
        const { servers } = await this.host.call("snapshot");
        for (const { name, state } of servers) {
          if (["stopped", "failed"].includes(state.is)) await this.host.call("start_server", { server: name });
        }
      },
    );
  }
}
