// The link that the user clicked. The link dialog shows its target before the browser opens.
import { pageState } from "$lib/page-state";

class Link {
  /** The URL that waits for the user's decision. */
  asked = $state<string | null>(null);

  open(url: string): void {
    this.asked = url;
  }

  close(): void {
    this.asked = null;
  }
}

export let pendingLink: Link;
pageState(() => (pendingLink = new Link()));
