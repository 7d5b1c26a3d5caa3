// The link that the user clicked. The link dialog shows its target before the browser opens.
import { registerPageState } from "$lib/page-state";

class Link {
  /** URL of the clicked link, or `null` if no decision is pending. */
  url = $state<string | null>(null);

  open(url: string): void {
    this.url = url;
  }

  close(): void {
    this.url = null;
  }
}

export let pendingLink: Link;
registerPageState(() => (pendingLink = new Link()));
