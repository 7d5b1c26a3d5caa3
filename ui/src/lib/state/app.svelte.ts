// Client state of the host: a snapshot, updated by events. After a gap the snapshot is read again.
import { call } from "$lib/api/client";
import type {
  ServerCall,
  CallState,
  ConfigProblem,
  ConversationSummary,
  Event,
  Events,
  AppPaths,
  ConsentRequest,
  ConsentRequestOutcome,
  Server,
  Settings,
  Snapshot,
} from "$lib/api/generated";
import { registerPageState } from "$lib/page-state";
import { platform } from "$lib/platform";

import { serializeReads } from "./one-at-a-time";
import { SettingsState } from "./settings.svelte";

const ENDED_CALL_STATES: readonly CallState[] = ["done", "refused", "cancelled", "failed"];
/** Maximum number of ended calls, and of closed consent requests, that are retained. */
const MAX_RETAINED_CALLS_AND_REQUESTS = 100;
/** Maximum number of event batches that are buffered while a snapshot is read. */
const MAX_WAITING_BATCHES = 256;

export function hasEnded(call: ServerCall): boolean {
  return ENDED_CALL_STATES.includes(call.state);
}

export interface ClosedRequest {
  request: ConsentRequest;
  outcome: ConsentRequestOutcome;
  at: number;
}

type Listener = (event: Event) => void;

class App {
  /** Set once the first snapshot has arrived. */
  ready = $state(false);
  /** The error of the last snapshot read, or `null` if it succeeded. */
  failure = $state.raw<unknown>(null);
  servers = $state.raw<Server[]>([]);
  /** The pending consent requests in the order of the host. */
  consentRequests = $state.raw<ConsentRequest[]>([]);
  /** The most recently closed consent requests, newest first. */
  closed = $state.raw<ClosedRequest[]>([]);
  /** Running calls and the most recently ended calls. */
  calls = $state.raw<ServerCall[]>([]);
  conversations = $state.raw<ConversationSummary[]>([]);
  configProblem = $state.raw<ConfigProblem | null>(null);
  paths = $state.raw<AppPaths>({ config: "", data: "", audit: "" });
  version = $state("");
  /** Number of snapshots that were read. Each one after the first means that events were lost. */
  snapshots = $state(0);

  readonly #settings = new SettingsState();
  #next = 0;
  #reading = false;
  #waiting: Events[] = [];
  #listeners = new Set<Listener>();

  get settings(): Settings {
    return this.#settings.now;
  }

  /** Changes some of the settings. */
  changeSettings(fields: Partial<Settings>): Promise<void> {
    return this.#settings.change(fields);
  }

  /** Subscribes to events and reads the first snapshot. */
  async start(): Promise<void> {
    try {
      await platform().listen(
        (events) => this.receive(events),
        () => void this.refresh(),
      );
    } catch (cause) {
      this.failure = cause;
    }
    await this.refresh();
  }

  /** Reads a snapshot, then applies the events that arrived in the meantime. */
  readonly refresh = serializeReads(async () => {
    this.#reading = true;
    try {
      this.#applySnapshot(await call("read_snapshot", {}));
      this.failure = null;
    } catch (cause) {
      this.failure = cause;
    }
    this.#reading = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const events of waiting) this.receive(events);
  });

  /**
   * Applies a batch of events. Events that the snapshot already includes are ignored. A gap in their numbers causes
   * another snapshot read.
   */
  receive(batch: Events): void {
    if (this.#reading || !this.ready) {
      // A dropped batch leaves a gap, which triggers another read.
      if (this.#waiting.push(batch) > MAX_WAITING_BATCHES) this.#waiting.shift();
      return;
    }
    if (batch.first > this.#next) {
      void this.refresh();
      return;
    }
    const fresh = batch.events.slice(this.#next - batch.first);
    this.#next += fresh.length;
    for (const event of fresh) {
      this.#apply(event);
      for (const listener of this.#listeners) listener(event);
    }
  }

  /**
   * Calls `listener` with every applied event until the returned function is called. Suitable as the result of an
   * `$effect`.
   */
  onEvent(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  server(name: string): Server | undefined {
    return this.servers.find((server) => server.name === name);
  }

  call(id: string): ServerCall | undefined {
    return this.calls.find((call) => call.id === id);
  }

  consentRequestsOf(server: string): ConsentRequest[] {
    return this.consentRequests.filter((request) => request.server === server);
  }

  #applySnapshot(snapshot: Snapshot): void {
    this.#next = snapshot.nextEvent;
    this.servers = snapshot.servers;
    this.consentRequests = snapshot.consentRequests;
    this.calls = snapshot.calls;
    this.conversations = snapshot.conversations;
    this.#settings.reset(snapshot.settings);
    this.configProblem = snapshot.configProblem;
    this.paths = snapshot.paths;
    this.version = snapshot.version;
    this.snapshots += 1;
    this.ready = true;
  }

  /**
   * Ends the repetition of approved calls of a server, or of all servers, after an event or a command that may have
   * ended it in the host. The host keeps more calls, such as after a change of another tool, and may forget some without an event, such
   * as when a server replaced its session. It alone decides if a call asks.
   */
  endRepetition(server?: string): void {
    const isOver = (call: ServerCall) =>
      call.repeatableUntil !== undefined && (server === undefined || call.server === server);
    if (this.calls.some(isOver))
      this.calls = this.calls.map((call) =>
        isOver(call) ? { ...call, repeatableUntil: undefined } : call,
      );
  }

  #apply(event: Event): void {
    switch (event.type) {
      case "server_changed":
        this.servers = withReplacedItem(this.servers, event.server, (s) => s.name);
        if (event.server.state.is !== "ready" || event.server.muted)
          this.endRepetition(event.server.name);
        break;
      case "server_removed":
        this.servers = this.servers.filter((server) => server.name !== event.name);
        this.endRepetition(event.name);
        break;
      case "rules_changed":
        this.endRepetition();
        break;
      case "consent_request_changed":
        this.consentRequests = withReplacedItem(
          this.consentRequests,
          event.consentRequest,
          (request) => request.id,
        );
        break;
      case "consent_request_closed": {
        const request = this.consentRequests.find((request) => request.id === event.id);
        this.consentRequests = this.consentRequests.filter((request) => request.id !== event.id);
        if (request) {
          const closed = { request, outcome: event.outcome, at: Date.now() };
          this.closed = [closed, ...this.closed].slice(0, MAX_RETAINED_CALLS_AND_REQUESTS);
          if (event.outcome === "denied" && request.body.kind === "tool")
            this.endRepetition(request.server);
        }
        break;
      }
      case "sampling_text":
        this.consentRequests = this.consentRequests.map((q) =>
          q.id === event.id ? withAppendedText(q, event.text) : q,
        );
        break;
      case "call_changed":
        this.calls = latestCalls(withReplacedItem(this.calls, event.call, (c) => c.id));
        break;
      case "conversations_changed":
        this.conversations = event.conversations;
        break;
      case "settings_changed":
        this.#settings.receive(event.settings);
        break;
      case "config_problem":
        this.configProblem = event.problem;
        break;
    }
  }
}

/** Returns the request with more text of the model's streamed response. */
function withAppendedText(request: ConsentRequest, more: string): ConsentRequest {
  const { body } = request;
  if (body.kind !== "sampling" || body.run.is !== "running") return request;
  const text = body.run.text + more;
  return { ...request, body: { ...body, run: { ...body.run, text, thinking: text === "" } } };
}

/** Returns the list with `item` in place of the item with the same key, or appended to the end. */
function withReplacedItem<T>(list: T[], item: T, key: (item: T) => string): T[] {
  const at = list.findIndex((other) => key(other) === key(item));
  return at < 0 ? [...list, item] : list.with(at, item);
}

/** Returns the calls without the oldest ended calls beyond the maximum. */
function latestCalls(calls: ServerCall[]): ServerCall[] {
  let surplus = calls.filter(hasEnded).length - MAX_RETAINED_CALLS_AND_REQUESTS;
  return surplus <= 0 ? calls : calls.filter((call) => !hasEnded(call) || surplus-- <= 0);
}

export let app: App;
registerPageState(() => (app = new App()));
