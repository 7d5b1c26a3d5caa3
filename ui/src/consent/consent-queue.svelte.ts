// Which of the waiting questions is looked at. Servers take turns, so that one that asks much does not keep the others waiting,
// and of each the first that came is shown first. The one in front stays there when others arrive.

import type { Question } from "$lib/api/generated";
import { app, hasEnded } from "$lib/state/app.svelte";

export class ConsentQueue {
  /** Whether the whole queue is listed instead of one question. */
  isListOpen = $state(false);

  readonly #all: () => Question[];
  #chosen = $state<string | null>(null);
  /** The servers that had a question in front, the one whose turn is longest ago first. */
  #turns = $state.raw<readonly string[]>([]);
  /** Answered here, by id and hash: not shown again while the news of it is on its way. */
  #answered = $state<string[]>([]);
  /** Changed here, by the version before: shown while the news of it is on its way. */
  #changed = $state.raw<{ before: string; now: Question } | null>(null);

  constructor(all: () => Question[]) {
    this.#all = all;
  }

  readonly open: Question[] = $derived.by(() =>
    this.#all()
      .map((q) => (this.#changed?.before === requestVersion(q) ? this.#changed.now : q))
      .filter((q) => !this.#answered.includes(requestVersion(q))),
  );
  readonly current: Question | null = $derived(
    this.open.find((q) => q.id === this.#chosen) ?? this.#next() ?? null,
  );
  /** From 0. */
  readonly index: number = $derived(this.current ? this.open.indexOf(this.current) : 0);

  /** Keeps the question that is in front there, whatever the order of the others becomes. */
  keepCurrent(): void {
    const { current } = this;
    if (this.#chosen === (current?.id ?? null)) return;
    this.#chosen = current?.id ?? null;
    if (current)
      this.#turns = [...this.#turns.filter((server) => server !== current.server), current.server];
  }

  show(id: string): void {
    this.#chosen = id;
    this.isListOpen = false;
  }

  step(by: 1 | -1): void {
    const count = this.open.length;
    if (count === 0) return;
    this.#chosen = this.open[(this.index + by + count) % count]?.id ?? null;
  }

  /** The question was changed to this. */
  replace(before: Question, now: Question): void {
    this.#changed = { before: requestVersion(before), now };
  }

  /** The oldest question of the server that was in front least recently. */
  #next(): Question | undefined {
    const turn = (q: Question) => this.#turns.indexOf(q.server);
    return this.open
      .filter(opensAutomatically)
      .reduce<Question | undefined>(
        (first, q) => (first === undefined || turn(q) < turn(first) ? q : first),
        undefined,
      );
  }

  /** This version of the question was answered. */
  markAnswered(request: Question): void {
    const stillThere = new Set(this.#all().map(requestVersion));
    this.#answered = [...this.#answered.filter((v) => stillThere.has(v)), requestVersion(request)];
  }
}

/** A question as it was shown: it is another one as soon as anything that would cross changes. */
export function requestVersion(request: Question): string {
  return `${request.id} ${request.hash}`;
}

/** What is decided now: a request to a model comes back under the same id with the model's answer. */
export function requestStage({ id, body }: Question): string {
  return body.kind === "sampling" ? `${id} ${body.step}` : id;
}

/**
 * Whether a question comes in front by itself. What nobody waits for stays in the list until it is opened: so do the folders
 * that many servers ask for as soon as they run.
 */
function opensAutomatically({ why, body, server, askedAt }: Question): boolean {
  if (body.kind === "roots" && why.by === "server") {
    // A server that does not say for which call it asks may do so for one that is under way.
    return app.calls.some(
      (call) => call.server === server && call.startedAt <= askedAt && !hasEnded(call),
    );
  }
  return why.by !== "ended";
}

export interface ServerGroup {
  server: string;
  requests: Question[];
}

/** By server, the server that asked first in front. */
export function groupByServer(requests: Question[]): ServerGroup[] {
  const groups = new Map<string, Question[]>();
  for (const request of requests) {
    const group = groups.get(request.server);
    if (group) group.push(request);
    else groups.set(request.server, [request]);
  }
  return [...groups].map(([server, list]) => ({ server, requests: list }));
}

/** More of one server than this are shown as one row. */
export const FLOOD_LIMIT = 3;
