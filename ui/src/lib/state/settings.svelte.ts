// Settings of the app: the last state from the host, with local changes that it has not confirmed yet.
import { call } from "$lib/api/client";
import type { Settings } from "$lib/api/generated";

import { windows } from "./windows.svelte";

interface SettingsChange {
  fields: Partial<Settings>;
  /** The sent settings, or `null` before they were sent. */
  sent: Partial<Settings> | null;
  /** Set once the host accepted the change. */
  isSaved: boolean;
  /** Set once the host's event about the change has arrived, which may precede the response. */
  isAnnounced: boolean;
}

export class SettingsState {
  #confirmed = $state.raw<Settings>({
    theme: "system",
    language: "system",
    welcomeDone: true,
    announce: true,
    auditDays: 0,
    auditMegabytes: 1000,
    auditContents: true,
    onClose: "ask",
    checkUpdates: false,
    zoom: 100,
    menuBar: false,
  });
  #changes = $state.raw<SettingsChange[]>([]);
  #last: Promise<void> = Promise.resolve();

  /** The displayed settings, including changes that the host has not confirmed yet. */
  readonly now: Settings = $derived(
    this.#changes.reduce(
      (settings, { fields }) => ({ ...settings, ...withoutDefaults(fields) }),
      this.#confirmed,
    ),
  );

  /** Applies the settings of a snapshot. */
  reset(settings: Settings): void {
    this.#confirmed = settings;
    this.#changes = this.#changes.filter((change) => !change.isSaved);
  }

  /** Applies the settings of an event. The host sends one for each change, including changes by other instances. */
  receive(settings: Settings): void {
    this.#confirmed = settings;
    const announced = this.#changes.find(
      ({ sent, isAnnounced }) => sent !== null && !isAnnounced && mayResultFrom(settings, sent),
    );
    if (announced) announced.isAnnounced = true;
    this.#settle();
  }

  /**
   * Changes some of the settings. Changes are sent one after another, each with all earlier ones, because the host
   * replaces the settings as a whole. The window of a conversation can only change those of `WindowSettings`.
   */
  change(fields: Partial<Settings>): Promise<void> {
    const change: SettingsChange = { fields, sent: null, isSaved: false, isAnnounced: false };
    this.#changes = [...this.#changes, change];
    const sent = this.#last.then(() => this.#send(change));
    this.#last = sent.catch(() => undefined);
    return sent;
  }

  async #send(change: SettingsChange): Promise<void> {
    const earlier = this.#changes.slice(0, this.#changes.indexOf(change) + 1);
    const sent = earlier.reduce(
      (settings, { fields }) => ({ ...settings, ...fields }),
      this.#confirmed,
    );
    const { zoom, menuBar } = sent;
    change.sent = windows.own === null ? sent : { zoom, menuBar };
    try {
      if (windows.own === null) await call("set_settings", sent);
      else await call("set_window_settings", { zoom, menuBar });
    } catch (cause) {
      this.#changes = this.#changes.filter((other) => other !== change);
      throw cause;
    }
    change.isSaved = true;
    this.#settle();
  }

  #settle(): void {
    this.#changes = this.#changes.filter((change) => !change.isSaved || !change.isAnnounced);
  }
}

/**
 * Returns `true` if the settings of an event may be the result of the sent settings. Limits may differ, because the
 * host adds defaults and clamps them.
 */
function mayResultFrom(settings: Settings, sent: Partial<Settings>): boolean {
  const keys = Object.keys(sent) as (keyof Settings)[];
  return keys.every((key) => {
    const value = sent[key];
    return value === undefined || typeof value === "object" || settings[key] === value;
  });
}

/** Returns the fields without those that the host completes with defaults. */
function withoutDefaults(fields: Partial<Settings>): Partial<Settings> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
