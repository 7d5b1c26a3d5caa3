// All permissions that apply without a consent request, while a view shows them. Each item is revoked at once, and can be restored for
// a few seconds while its server stays unchanged.

import { SvelteMap, SvelteSet } from "svelte/reactivity";

import { call, toApiError } from "$lib/api/client";
import type { ApprovedApp, Policy, SamplingReport } from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";
import { currentSecond } from "$lib/state/clock.svelte";
import { GrantStore } from "$lib/state/grants.svelte";

import type { PolicyStore } from "../rules/policy.svelte";
import {
  appItem,
  compareItems,
  foldersItem,
  grantItem,
  ruleItem,
  ruleKey,
  samplingItem,
  type AllowedActions,
  type AllowedItem,
} from "./allowed-items";

/** Time for which a revocation can be undone, in milliseconds. The host accepts it for longer. */
export const UNDO_PERIOD_MS = 10_000;

interface Revoked {
  item: AllowedItem;
  at: number;
  /** Serialized settings of the server at the time of the revocation. */
  config: string;
  /** Rules that were read directly after the revocation. */
  policy: Policy | null;
}

export class AllowedStore {
  readonly grants = new GrantStore();
  readonly #policy: PolicyStore;
  /** Sampling settings and usage by server. */
  readonly #sampling = new SvelteMap<string, SamplingReport>();
  /** Approved app pages by server. */
  readonly #apps = new SvelteMap<string, ApprovedApp[]>();
  readonly #revoked = new SvelteMap<string, Revoked>();
  /** Items whose revocation is in progress. Rendered until it ends, even if the host has already removed them. */
  readonly #leaving = new SvelteMap<string, AllowedItem>();
  readonly #busy = new SvelteSet<string>();
  /** Error of an attempt to read the sampling settings or app pages of a server, or `null` if each succeeded. */
  readError = $state.raw<unknown>(null);

  constructor(policy: PolicyStore) {
    this.#policy = policy;
  }

  readonly #actions: AllowedActions = {
    revokeGrant: (grant) => this.grants.revoke(grant),
    restoreGrant: (grant) => this.grants.restore(grant),
    revokeApp: async (server, uri) => {
      await call("revoke_app", { server, uri });
      await this.readApps(server);
    },
    changeRules: (act) => this.#policy.change(act),
    setSampling: async (server, settings) => {
      await call("set_sampling", { server, settings });
      await this.readSampling(server);
    },
  };

  /** Current permissions, and those that were revoked in this view. `null` before the first read. */
  readonly items: AllowedItem[] | null = $derived.by(() => {
    const { list, ruleUses, folderUses } = this.grants;
    if (list === null || this.#policy.now === null) return null;
    const items = [
      ...list.map((grant) => grantItem(grant, app.server(grant.server), this.#actions)),
      ...app.servers.flatMap(({ name }) =>
        (this.#apps.get(name) ?? []).map((page) => appItem(name, page, this.#actions)),
      ),
      ...app.servers.map((server) => foldersItem(server, folderUses)),
      ...app.servers.map(({ name }) => samplingItem(name, this.#sampling.get(name), this.#actions)),
      ...this.#policy.now.rules.map((rule) => ruleItem(rule, ruleUses, this.#actions)),
    ];
    // A revoked item looks the same as before its revocation.
    const current = items.filter((item) => item !== null).filter((item) => !this.isRevoked(item));
    const all = [...this.#revoked.values()].map(({ item }) => item);
    const revoked = all.filter((item) => this.isRevoked(item));
    const leaving = [...this.#leaving.values()].filter(
      ({ key }) => !current.some((item) => item.key === key),
    );
    return [...current, ...revoked, ...leaving].sort(compareItems);
  });

  /** Follows changes of the grants, sampling settings and app pages until the returned function is called. */
  follow(): () => void {
    const stop = this.grants.follow();
    const stopEvents = app.onEvent((event) => {
      if (event.type === "sampling_changed") void this.readSampling(event.server);
      if (event.type === "catalog_changed") void this.readApps(event.server);
    });
    return () => {
      stop();
      stopEvents();
    };
  }

  async readSampling(server: string): Promise<void> {
    try {
      this.#sampling.set(server, await call("read_sampling", { server }));
    } catch (cause) {
      this.readError = cause;
    }
  }

  async readApps(server: string): Promise<void> {
    try {
      this.#apps.set(server, (await call("list_reviewed_definitions", { server })).apps);
    } catch (cause) {
      // A server that was just removed has none.
      if (app.server(server)) this.readError = cause;
    }
  }

  isRevoked(item: AllowedItem): boolean {
    return this.#revoked.has(item.key) && !this.#isAllowedAgain(item);
  }

  isBusy({ key }: AllowedItem): boolean {
    return this.#busy.has(key);
  }

  /** Returns `true` while the revocation of an item can be undone. */
  canUndo({ key }: AllowedItem): boolean {
    const revoked = this.#revoked.get(key);
    if (!revoked?.item.revocation?.restore) return false;
    return currentSecond() - revoked.at < UNDO_PERIOD_MS;
  }

  /** Revokes an item. Resolves to `false` if it is revoked already. */
  async revoke(item: AllowedItem): Promise<boolean> {
    const { key, server, revocation } = item;
    if (revocation === null || this.isRevoked(item)) return false;
    return this.#once(key, async () => {
      const config = configOf(server);
      // Present if the same permission was revoked before.
      this.#revoked.delete(key);
      this.#leaving.set(key, item);
      try {
        await revocation.revoke();
        this.#revoked.set(key, { item, at: Date.now(), config, policy: this.#policy.now });
      } finally {
        this.#leaving.delete(key);
      }
    });
  }

  /**
   * Restores an item exactly as it was. Resolves to `"changed"` if its server or tool has changed since, or too much time
   * has passed, and it therefore stays revoked.
   */
  async undo({ key }: AllowedItem): Promise<"restored" | "changed"> {
    const revoked = this.#revoked.get(key);
    if (!revoked) return "changed";
    const { item, at, config } = revoked;
    const isFresh = Date.now() - at < UNDO_PERIOD_MS && configOf(item.server) === config;
    if (!isFresh || this.#isAllowedAgain(item)) return "changed";
    try {
      await this.#once(key, async () => {
        await item.revocation?.restore?.();
        this.#revoked.delete(key);
      });
    } catch (cause) {
      const { code } = toApiError(cause);
      if (code === "stale" || code === "not_found") return "changed";
      throw cause;
    }
    return "restored";
  }

  /**
   * Returns `true` if the user has shared other folders, turned sampling on, or added the same rule since the
   * revocation.
   */
  #isAllowedAgain({ kind, key, server }: AllowedItem): boolean {
    if (kind === "folders") return (app.server(server)?.roots.folders.length ?? 0) > 0;
    if (kind === "models") return this.#sampling.get(server)?.settings.isEnabled === true;
    const { now } = this.#policy;
    if (kind !== "rule" || now === null || now === this.#revoked.get(key)?.policy) return false;
    return now.rules.some((rule) => ruleKey(rule) === key);
  }

  /** Ignores the action while another one for the same item is in progress. */
  async #once(key: string, act: () => Promise<void>): Promise<boolean> {
    if (this.#busy.has(key)) return false;
    this.#busy.add(key);
    try {
      await act();
      return true;
    } finally {
      this.#busy.delete(key);
    }
  }
}

function configOf(server: string): string {
  return JSON.stringify(app.server(server)?.config ?? null);
}
