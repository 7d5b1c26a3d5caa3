// A link that was clicked. The user sees where it leads before the browser opens.
import { pageState } from "$lib/page-state";

class Link {
  /** The URL that waits to be opened, if any. */
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
