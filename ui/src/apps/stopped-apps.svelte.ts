// Apps that were closed because the page of their window stopped responding or its process ended. The shell keeps this
// state, since the page is loaded again after each end of its process.
import { registerPageState } from "$lib/page-state";
import { platform, type StoppedAppsReport } from "$lib/platform";

class StoppedApps {
  /** Latest reports that the user has not dismissed. */
  reports = $state.raw<readonly StoppedAppsReport[]>([]);
  /** Servers whose apps are not shown without a click. An app could otherwise end the page each time. */
  #withheld: readonly string[] = [];

  receive(reports: readonly StoppedAppsReport[], withheld: readonly string[]): void {
    this.reports = reports;
    this.#withheld = withheld;
  }

  /** Returns `true` if the apps of a server are shown only after a click of the user. */
  isWithheld(server: string): boolean {
    return this.#withheld.includes(server);
  }

  /** Records that the user has opened an app of a server again. */
  release(server: string): void {
    if (!this.isWithheld(server)) return;
    this.#withheld = this.#withheld.filter((one) => one !== server);
    platform().releaseStoppedApps(server);
  }

  dismiss(id: number): void {
    this.reports = this.reports.filter((report) => report.id !== id);
    platform().dismissStoppedApps(id);
  }
}

export let stoppedApps: StoppedApps;
registerPageState(() => (stoppedApps = new StoppedApps()));
