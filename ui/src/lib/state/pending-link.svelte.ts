// The link that the user clicked, or that an app requests to open. The link dialog shows its target before the browser opens.
import { registerPageState } from "$lib/page-state";

/** Time after a dialog closed in which no app opens another one, in milliseconds. */
export const APP_LINK_PAUSE = 1_000;

class PendingLink {
  /** URL of the clicked link, or `null` if no decision is pending. */
  url = $state<string | null>(null);
  /** Name of the server whose app requests to open the link, or `null` if the user clicked it. */
  serverOfApp = $state<string | null>(null);
  #report: (isOpened: boolean) => void = () => undefined;
  #closedAt = -Infinity;

  show(url: string): void {
    this.#replace(url, null, () => undefined);
  }

  /**
   * Opens the dialog for a link that the app of a server requests to open. Calls `report` with the user's decision.
   * Returns `false` if the dialog is open or was closed just now, because its target must not change under the pointer.
   */
  showForApp(url: string, server: string, report: (isOpened: boolean) => void): boolean {
    if (this.url !== null || performance.now() - this.#closedAt < APP_LINK_PAUSE) return false;
    this.#replace(url, server, report);
    return true;
  }

  /** Closes the dialog. `isOpened` is set if the link was opened in the browser. */
  close(isOpened = false): void {
    if (this.url !== null) this.#closedAt = performance.now();
    const report = this.#report;
    this.#report = () => undefined;
    this.url = null;
    this.serverOfApp = null;
    report(isOpened);
  }

  #replace(url: string, server: string | null, report: (isOpened: boolean) => void): void {
    this.close();
    this.url = url;
    this.serverOfApp = server;
    this.#report = report;
  }
}

export let pendingLink: PendingLink;
registerPageState(() => (pendingLink = new PendingLink()));
