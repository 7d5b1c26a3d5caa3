// Grants, while a view shows them: read at first and again after each decision.
import { SvelteSet } from "svelte/reactivity";

import { call } from "$lib/api/client";
import type { FolderUse, Grant, RuleUse } from "$lib/api/generated";

import { app } from "./app.svelte";
import { serializeReads } from "./one-at-a-time";

export class GrantStore {
  /**
   * The grants, or `null` before the first read. Revoked grants remain listed, so that the others do not move under the
   * pointer during a double click.
   */
  list = $state.raw<Grant[] | null>(null);
  /** Last uses of rules. */
  ruleUses = $state.raw<RuleUse[]>([]);
  /** Last times at which servers received their shared folders. */
  folderUses = $state.raw<FolderUse[]>([]);
  error = $state.raw<unknown>(null);
  /** Ids of the grants that were revoked since the view was opened. */
  readonly revoked = new SvelteSet<string>();
  /** Ids of the grants whose revocation is pending. */
  readonly leaving = new SvelteSet<string>();

  /**
   * Reads the grants and updates them after each decision, until the returned function is called. Suitable as the
   * result of an `$effect`.
   */
  follow(): () => void {
    void this.read();
    return app.onEvent((event) => {
      if (event.type === "audit_changed") void this.read();
    });
  }

  readonly read = serializeReads(async () => {
    try {
      const { grants, ruleUses, folderUses } = await call("list_grants", {});
      const current = grants.filter(({ id }) => !this.#isRevoked(id));
      this.list?.forEach((grant, at) => {
        if (this.#isRevoked(grant.id)) current.splice(at, 0, grant);
      });
      this.list = current;
      this.ruleUses = ruleUses ?? [];
      this.folderUses = folderUses ?? [];
      this.error = null;
    } catch (cause) {
      this.error = cause;
    }
  });

  /** Revokes a grant. Repeated calls have no effect. */
  async revoke({ id }: Grant): Promise<void> {
    if (this.#isRevoked(id)) return;
    this.leaving.add(id);
    try {
      await call("revoke_grant", { id });
      this.revoked.add(id);
    } finally {
      this.leaving.delete(id);
    }
    await this.read();
  }

  /** Restores a grant that was just revoked in this view. */
  async restore({ id }: Grant): Promise<void> {
    await call("restore_grant", { id });
    this.revoked.delete(id);
    await this.read();
  }

  #isRevoked(id: string): boolean {
    return this.leaving.has(id) || this.revoked.has(id);
  }
}
