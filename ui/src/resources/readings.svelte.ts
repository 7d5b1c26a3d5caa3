// What was read of resources, and which of them changed since.

import { SvelteMap, SvelteSet } from "svelte/reactivity";

import { call, toApiError, type ApiError } from "$lib/api/client";
import type { Event, ResourceContents, ResourceResult } from "$lib/api/generated";
import { pageState } from "$lib/page-state";
import { app } from "$lib/state/app.svelte";

/** How many readings are kept. */
export const MAX_READINGS = 30;
/** How many changed resources are known. */
export const MAX_CHANGED = 1000;

/** Asks for it; with `refresh` the server is asked, however fresh it is. */
type Ask = (id: string, refresh: boolean) => Promise<ResourceResult>;

/** One resource as it was read, or what is read like one. */
export class Reading {
  readonly server: string;
  readonly uri: string;
  contents = $state.raw<ResourceContents[] | null>(null);
  error = $state.raw<ApiError | null>(null);
  /** The call that is under way. */
  call = $state<string | null>(null);
  /** When it was read, in milliseconds since 1970. */
  at = $state<number | null>(null);
  /** Whether the host had it already and did not ask the server. */
  cached = $state(false);
  /** Until when it counts as fresh, in milliseconds since 1970, if the server says so. */
  freshUntil = $state<number | null>(null);

  readonly #ask: Ask;

  constructor(server: string, uri: string, ask?: Ask) {
    this.server = server;
    this.uri = uri;
    this.#ask = ask ?? ((id, refresh) => call("read_resource", { call: id, server, uri, refresh }));
  }

  get busy(): boolean {
    return this.call !== null;
  }

  /**
   * Reads it, also once more. With `refresh` the server is asked, however fresh it is. Resolves when that has ended, however it did; says
   * whether it was read.
   */
  async read(refresh = false): Promise<boolean> {
    if (this.busy) return false;
    const id = crypto.randomUUID();
    this.call = id;
    this.error = null;
    try {
      const result = await this.#ask(id, refresh);
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
      // The read has ended in the meantime; its own outcome is shown.
    }
  }
}

class Readings {
  #readings = new SvelteMap<string, Reading>();
  #changed = new SvelteSet<string>();

  /** What was read of a resource, if anything. */
  of(server: string, uri: string): Reading | undefined {
    return this.#readings.get(keyOf(server, uri));
  }

  /** Reads a resource, and takes its mark away. */
  async read(server: string, uri: string, refresh = false): Promise<Reading> {
    const key = keyOf(server, uri);
    const reading = this.#readings.get(key) ?? new Reading(server, uri);
    // The one that was read longest ago goes first.
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

  /** Whether the server said that it, or something below it, changed since it was read. */
  hasChanged(server: string, uri: string): boolean {
    return this.#marksOf(server, uri).length > 0;
  }

  /** Takes note of what a server says. */
  receive(event: Event): void {
    if (event.type === "resource_updated") {
      this.#changed.add(keyOf(event.server, event.uri));
      for (const oldest of this.#changed) {
        if (this.#changed.size <= MAX_CHANGED) break;
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

export let readings: Readings;
pageState(() => {
  readings = new Readings();
  app.onEvent((event) => readings.receive(event));
});
