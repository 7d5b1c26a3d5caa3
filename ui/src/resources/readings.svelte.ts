// Contents of the resources that were read, and the set of those that changed since.

import { SvelteMap, SvelteSet } from "svelte/reactivity";

import { call, toApiError, type ApiError } from "$lib/api/client";
import type { Event, ResourceContents, ResourceResult } from "$lib/api/generated";
import { registerPageState } from "$lib/page-state";
import { app } from "$lib/state/app.svelte";

/** Maximum number of retained readings. */
export const MAX_READINGS = 30;
/** Maximum number of changed resources that are tracked. */
export const MAX_CHANGED_RESOURCES = 1000;

/** Sends a read to the host under the call id `id`. `refresh` bypasses the cache of the host. */
type ReadRequest = (id: string, refresh: boolean) => Promise<ResourceResult>;

/** Contents of a resource or of a skill's file, and the state of their last read. */
export class ResourceReading {
  readonly server: string;
  readonly uri: string;
  contents = $state.raw<ResourceContents[] | null>(null);
  error = $state.raw<ApiError | null>(null);
  /** Id of the running call. */
  call = $state<string | null>(null);
  /** Time of the last successful read, in milliseconds since 1970. */
  at = $state<number | null>(null);
  /** Set if the contents are from the cache of the host. */
  cached = $state(false);
  /** Time until which the contents are fresh, in milliseconds since 1970. `null` if the server does not specify it. */
  freshUntil = $state<number | null>(null);

  readonly #requestRead: ReadRequest;

  constructor(server: string, uri: string, requestRead?: ReadRequest) {
    this.server = server;
    this.uri = uri;
    this.#requestRead =
      requestRead ?? ((id, refresh) => call("read_resource", { call: id, server, uri, refresh }));
  }

  get busy(): boolean {
    return this.call !== null;
  }

  /**
   * Reads the resource. `refresh` bypasses the cache of the host. Resolves to `true` if the read succeeded, and to
   * `false` if it failed or another one was running.
   */
  async read(refresh = false): Promise<boolean> {
    if (this.busy) return false;
    const id = crypto.randomUUID();
    this.call = id;
    this.error = null;
    try {
      const result = await this.#requestRead(id, refresh);
      this.contents = result.contents;
      this.cached = result.cached;
      this.freshUntil = result.freshUntil;
      this.at = Date.now();
      return true;
    } catch (cause) {
      this.error = toApiError(cause);
      return false;
    } finally {
      this.call = null;
    }
  }

  async cancel(): Promise<void> {
    if (this.call === null) return;
    try {
      await call("cancel_call", { call: this.call });
    } catch {
      // The read ended in the meantime, and its outcome is shown.
    }
  }
}

class Readings {
  #readings = new SvelteMap<string, ResourceReading>();
  #changed = new SvelteSet<string>();

  /** Returns the retained reading of a resource, or `undefined` if it was not read. */
  get(server: string, uri: string): ResourceReading | undefined {
    return this.#readings.get(keyOf(server, uri));
  }

  /** Reads a resource and clears its mark as changed. Restores the mark if the read fails. */
  async read(server: string, uri: string, refresh = false): Promise<ResourceReading> {
    const key = keyOf(server, uri);
    const reading = this.#readings.get(key) ?? new ResourceReading(server, uri);
    // Drops the oldest reading.
    this.#readings.delete(key);
    this.#readings.set(key, reading);
    for (const oldest of this.#readings.keys()) {
      if (this.#readings.size <= MAX_READINGS) break;
      this.#readings.delete(oldest);
    }
    const marks = this.#marksOf(server, uri);
    for (const mark of marks) this.#changed.delete(mark);
    if (!(await reading.read(refresh))) for (const mark of marks) this.#changed.add(mark);
    return reading;
  }

  /**
   * Returns `true` if the server has reported a change of the resource, or of a resource below it, since the last read.
   */
  hasChanged(server: string, uri: string): boolean {
    return this.#marksOf(server, uri).length > 0;
  }

  /** Records the change that an event reports. */
  receive(event: Event): void {
    if (event.type === "resource_updated") {
      this.#changed.add(keyOf(event.server, event.uri));
      for (const oldest of this.#changed) {
        if (this.#changed.size <= MAX_CHANGED_RESOURCES) break;
        this.#changed.delete(oldest);
      }
    } else if (event.type === "server_removed") {
      for (const key of [...this.#readings.keys()]) {
        if (serverOf(key) === event.name) this.#readings.delete(key);
      }
      for (const key of [...this.#changed]) {
        if (serverOf(key) === event.name) this.#changed.delete(key);
      }
    }
  }

  #marksOf(server: string, uri: string): string[] {
    if (this.#changed.size === 0) return [];
    const below = uri.endsWith("/") ? uri : `${uri}/`;
    return [...this.#changed].filter((key) => {
      const [of, changed] = JSON.parse(key) as [string, string];
      return of === server && (changed === uri || changed.startsWith(below));
    });
  }
}

function keyOf(server: string, uri: string): string {
  return JSON.stringify([server, uri]);
}

function serverOf(key: string): string {
  return (JSON.parse(key) as [string, string])[0];
}

export let resourceReadings: Readings;
registerPageState(() => {
  resourceReadings = new Readings();
  app.onEvent((event) => resourceReadings.receive(event));
});
