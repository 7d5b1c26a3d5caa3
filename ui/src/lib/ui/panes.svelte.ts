// Widths of the resizable panes in pixels. Stored in the storage of the web view.
import { registerPageState } from "$lib/page-state";

export interface PaneWidth {
  /** Width that the user has set in pixels, or `null` for the default of the layout. */
  chosen: number | null;
}

/** Maximum stored width in pixels. Larger values are ignored. */
const MAX_PANE_WIDTH = 10_000;

class StoredPaneWidth implements PaneWidth {
  #chosen = $state<number | null>(null);
  readonly #key: string;

  constructor(name: string) {
    this.#key = `pane ${name}`;
  }

  get chosen(): number | null {
    return this.#chosen;
  }

  set chosen(width: number | null) {
    this.#chosen = width;
    try {
      if (width === null) localStorage.removeItem(this.#key);
      else localStorage.setItem(this.#key, String(width));
    } catch {
      // Without storage, the width lasts as long as the page.
    }
  }

  /** Loads the stored width. */
  begin(): void {
    this.#chosen = null;
    try {
      const width = Number(localStorage.getItem(this.#key) ?? "");
      if (width > 0 && width < MAX_PANE_WIDTH) this.#chosen = width;
    } catch {
      // Without storage, the width lasts as long as the page.
    }
  }
}

class Panes {
  /** Left column, with conversations and servers. */
  readonly left = new StoredPaneWidth("left");
  /** List in the list and detail layout. */
  readonly list = new StoredPaneWidth("list");
}

export const paneWidths = new Panes();
registerPageState(() => {
  paneWidths.left.begin();
  paneWidths.list.begin();
});
