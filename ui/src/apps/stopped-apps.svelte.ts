// Apps that were closed because the page of their window stopped responding or its process ended.
import { registerPageState } from "$lib/page-state";
import type { AppStopCause, StoppedApp } from "$lib/platform";

const MAX_REPORTS = 3;

interface StoppedAppsReport {
  id: number;
  apps: readonly StoppedApp[];
  cause: AppStopCause;
}

const keyOf = (server: string, tool: string) => JSON.stringify([server, tool]);

class StoppedApps {
  /** Latest reports that the user has not dismissed. */
  reports = $state.raw<readonly StoppedAppsReport[]>([]);
  /** Apps that are not shown without a click. An app could otherwise end the page each time that it is loaded. */
  readonly #withheld = new Set<string>();
  #next = 1;

  receive(apps: readonly StoppedApp[], cause: AppStopCause): void {
    for (const { server, tool } of apps) this.#withheld.add(keyOf(server, tool));
    this.reports = [...this.reports, { id: this.#next++, apps, cause }].slice(-MAX_REPORTS);
  }

  /** Returns `true` if the app of a tool is shown only after a click of the user. */
  isWithheld(server: string, tool: string): boolean {
    return this.#withheld.has(keyOf(server, tool));
  }

  /** Records that the user has opened the app of a tool again. */
  release(server: string, tool: string): void {
    this.#withheld.delete(keyOf(server, tool));
  }

  dismiss(id: number): void {
    this.reports = this.reports.filter((report) => report.id !== id);
  }
}

export let stoppedApps: StoppedApps;
registerPageState(() => (stoppedApps = new StoppedApps()));
