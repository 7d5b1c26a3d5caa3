// Selects the current consent request. Servers take turns, so that one with many requests does not delay the others,
// and each server's oldest request comes first. The current request stays when others arrive.

import type { ConsentRequest } from "$lib/api/generated";
import { app, hasEnded } from "$lib/state/app.svelte";

/** Requests that the user put aside. They stay pending, and are shown again only when the user opens them. */
export class AsideRequests {
  readonly #pending: () => ConsentRequest[];
  #stages = $state.raw<readonly string[]>([]);

  /** `pending` returns all pending requests, wherever they are shown. */
  constructor(pending: () => ConsentRequest[]) {
    this.#pending = pending;
  }

  /** Returns `true` if the request was put aside and has been at the same stage since. */
  has(request: ConsentRequest): boolean {
    return this.#stages.includes(requestStage(request));
  }

  add(request: ConsentRequest): void {
    const stillThere = new Set(this.#pending().map(requestStage));
    const stage = requestStage(request);
    this.#stages = [...this.#stages.filter((one) => one !== stage && stillThere.has(one)), stage];
  }
}

export class ConsentQueue {
  /** Set if the list of all requests is shown instead of one request. */
  isListOpen = $state(false);

  readonly #all: () => ConsentRequest[];
  #chosen = $state<string | null>(null);
  /** Stage of the request that the user opened, or `null`. The next step of a sampling request was not opened. */
  #opened = $state<string | null>(null);
  /** Servers whose requests were displayed, least recently displayed first. */
  #turns = $state.raw<readonly string[]>([]);
  /** Versions of requests that were decided in this window. They are hidden until the host's event closes them. */
  #answered = $state<string[]>([]);
  readonly #aside: AsideRequests;
  readonly #holdsBack: (request: ConsentRequest) => boolean;
  /** Set for a stage of a request that was held back when it appeared. It stays so until the user opens the request. */
  readonly #heldStages = new Map<string, boolean>();
  /**
   * The last edit: the version before it, and the edited request. Used until the host's event about the edit arrives.
   */
  #changed = $state.raw<{ before: string; now: ConsentRequest } | null>(null);

  /**
   * A request can move between the queues that share `aside`. `holdsBack` returns `true` for a request that appears and
   * must not be shown by itself.
   */
  constructor(
    all: () => ConsentRequest[],
    aside: AsideRequests = new AsideRequests(all),
    holdsBack: (request: ConsentRequest) => boolean = () => false,
  ) {
    this.#all = all;
    this.#aside = aside;
    this.#holdsBack = holdsBack;
  }

  readonly open: ConsentRequest[] = $derived.by(() =>
    this.#all()
      .map((q) => (this.#changed?.before === requestVersion(q) ? this.#changed.now : q))
      .filter((q) => !this.#answered.includes(requestVersion(q))),
  );
  readonly current: ConsentRequest | null = $derived(
    this.open.find((q) => q.id === this.#chosen) ?? this.#next() ?? null,
  );
  /** Requests that were held back when they appeared, and were not opened or put aside since. */
  readonly held: ConsentRequest[] = $derived.by(() =>
    this.#waiting().filter((q) => this.#isHeld(q) && q.id !== this.current?.id && !isRunning(q)),
  );
  /** Index of the current request in the queue, from 0. */
  readonly index: number = $derived(this.current ? this.open.indexOf(this.current) : 0);

  /** Set if the user opened a request that is still open. */
  readonly isOpened: boolean = $derived(this.open.some((q) => requestStage(q) === this.#opened));
  /** Set if the user opened the current request. */
  readonly isCurrentOpened: boolean = $derived(
    this.current !== null && requestStage(this.current) === this.#opened,
  );

  /** Keeps the current request selected when the order of the queue changes. */
  keepCurrent(): void {
    const { current } = this;
    if (this.#chosen === (current?.id ?? null)) return;
    this.#chosen = current?.id ?? null;
    if (current)
      this.#turns = [...this.#turns.filter((server) => server !== current.server), current.server];
  }

  show(id: string): void {
    const request = this.open.find((q) => q.id === id);
    this.#chosen = id;
    this.#opened = request ? requestStage(request) : id;
    this.isListOpen = false;
  }

  /**
   * Closes a request without a decision. It stays pending and in the queue, and is not shown again by itself until its
   * stage changes.
   */
  putAside(request: ConsentRequest): void {
    this.#aside.add(request);
    if (this.#chosen === request.id) this.#chosen = null;
    if (this.#opened === requestStage(request)) this.#opened = null;
  }

  isAside(request: ConsentRequest): boolean {
    return this.#aside.has(request);
  }

  /** Closes the request that the user opened. It stays in the queue. */
  closeOpened(): void {
    this.#opened = null;
  }

  step(by: 1 | -1): void {
    const count = this.open.length;
    if (count === 0) return;
    const next = this.open[(this.index + by + count) % count];
    if (next) this.show(next.id);
  }

  /** Replaces a request by its edited version. */
  replace(before: ConsentRequest, now: ConsentRequest): void {
    this.#changed = { before: requestVersion(before), now };
  }

  /** Returns the requests that may be shown without the user's action, unless they were held back. */
  #waiting(): ConsentRequest[] {
    const stages = new Set(this.open.map(requestStage));
    for (const stage of this.#heldStages.keys())
      if (!stages.has(stage)) this.#heldStages.delete(stage);
    return this.open.filter((q) => opensAutomatically(q) && !this.#aside.has(q));
  }

  /** Returns `true` if the request was held back, which is decided the first time. */
  #isHeld(request: ConsentRequest): boolean {
    const stage = requestStage(request);
    const isHeld = this.#heldStages.get(stage) ?? this.#holdsBack(request);
    this.#heldStages.set(stage, isHeld);
    return isHeld;
  }

  /**
   * Returns the oldest request of the server that was displayed least recently, without those that were put aside or
   * held back.
   */
  #next(): ConsentRequest | undefined {
    const turn = (q: ConsentRequest) => this.#turns.indexOf(q.server);
    return this.#waiting()
      .filter((q) => !this.#isHeld(q))
      .reduce<ConsentRequest | undefined>(
        (first, q) => (first === undefined || turn(q) < turn(first) ? q : first),
        undefined,
      );
  }

  /** Hides this version of the request, because it was decided. */
  markAnswered(request: ConsentRequest): void {
    const stillThere = new Set(this.#all().map(requestVersion));
    this.#answered = [...this.#answered.filter((v) => stillThere.has(v)), requestVersion(request)];
  }
}

/** Returns the version of a request. It changes with every byte of the payload. */
export function requestVersion(request: ConsentRequest): string {
  return `${request.id} ${request.hash}`;
}

/**
 * Returns a key of the request and its step. The two steps of a sampling request, request and response, have the same
 * id.
 */
export function requestStage({ id, body }: ConsentRequest): string {
  return body.kind === "sampling" ? `${id} ${body.step}` : id;
}

/** Returns `true` while a model responds to a sampling request. There is nothing to decide then. */
function isRunning({ body }: ConsentRequest): boolean {
  return body.kind === "sampling" && body.step === "running";
}

/**
 * Returns `true` if a request is shown without the user's action. Requests that block no call or user action stay in
 * the list, as do requests for roots that many servers send right after their start.
 */
function opensAutomatically({ origin, body, server, askedAt }: ConsentRequest): boolean {
  if (body.kind === "roots" && origin.by === "server") {
    // The server does not name the call, so any running call may have caused the request.
    return app.calls.some(
      (call) => call.server === server && call.startedAt <= askedAt && !hasEnded(call),
    );
  }
  return origin.by !== "ended";
}

export interface ServerGroup {
  server: string;
  requests: ConsentRequest[];
}

/** Groups requests by server, in the order of each server's oldest request. */
export function groupByServer(requests: ConsentRequest[]): ServerGroup[] {
  const groups = new Map<string, ConsentRequest[]>();
  for (const request of requests) {
    const group = groups.get(request.server);
    if (group) group.push(request);
    else groups.set(request.server, [request]);
  }
  return [...groups].map(([server, list]) => ({ server, requests: list }));
}

/** Number of requests of one server above which they are collapsed to a single row. */
export const FLOOD_LIMIT = 3;
