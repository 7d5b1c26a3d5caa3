// The app's settings: as the host last told them, with the changes that it has not told of yet.
import { call } from "$lib/api/client";
import type { Settings } from "$lib/api/generated";

interface Change {
  fields: Partial<Settings>;
  /** The settings with the change, once they are sent. */
  sent: Settings | null;
  /** The host has answered that it holds. */
  isSaved: boolean;
  /** The host's event about it has arrived, which may be before the answer or after it. */
  isAnnounced: boolean;
}

export class SettingsState {
  #held = $state.raw<Settings>({
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
  });
  #changes = $state.raw<Change[]>([]);
  #last: Promise<void> = Promise.resolve();

  /** The settings as they are shown: a change holds from the moment the user makes it. */
  readonly now: Settings = $derived(
    this.#changes.reduce((settings, { fields }) => ({ ...settings, ...given(fields) }), this.#held),
  );

  /** Takes the settings of a snapshot. */
  reset(settings: Settings): void {
    this.#held = settings;
    this.#changes = this.#changes.filter((change) => !change.isSaved);
  }

  /** Takes the settings of an event, which the host sends once for each change, also for those of other programs. */
  receive(settings: Settings): void {
    this.#held = settings;
    const announced = this.#changes.find(
      ({ sent, isAnnounced }) => sent !== null && !isAnnounced && isAnswer(settings, sent),
    );
    if (announced) announced.isAnnounced = true;
    this.#settle();
  }

  /**
   * Changes some of the settings. Changes are sent one after the other, each with those before it: the host takes settings as a
   * whole.
   */
  change(fields: Partial<Settings>): Promise<void> {
    const change: Change = { fields, sent: null, isSaved: false, isAnnounced: false };
    this.#changes = [...this.#changes, change];
    const sent = this.#last.then(() => this.#send(change));
    this.#last = sent.catch(() => undefined);
    return sent;
  }

  async #send(change: Change): Promise<void> {
    const before = this.#changes.slice(0, this.#changes.indexOf(change) + 1);
    const sent = before.reduce((settings, { fields }) => ({ ...settings, ...fields }), this.#held);
    change.sent = sent;
    try {
      await call("set_settings", sent);
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

/** Whether the settings of an event can be those that were sent. Groups of bounds may differ: the host fills and limits them. */
function isAnswer(settings: Settings, sent: Settings): boolean {
  const keys = Object.keys(sent) as (keyof Settings)[];
  return keys.every((key) => {
    const value = sent[key];
    return value === undefined || typeof value === "object" || settings[key] === value;
  });
}

/** The fields without those that are left to the host. */
function given(fields: Partial<Settings>): Partial<Settings> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
