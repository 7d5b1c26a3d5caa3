// How wide the panes are that the user can resize, in pixels. Kept in the web view's storage, from one start to the next.
import { pageState } from "$lib/page-state";

export interface PaneWidth {
  /** Nothing until the user chose one: then it is as wide as its place makes it. */
  chosen: number | null;
}

/** Wider than any window; what is kept beyond is not read. */
const WIDEST = 10_000;

class KeptWidth implements PaneWidth {
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
      // Without storage it holds as long as the page.
    }
  }

  /** Reads what is kept. */
  begin(): void {
    this.#chosen = null;
    try {
      const width = Number(localStorage.getItem(this.#key) ?? "");
      if (width > 0 && width < WIDEST) this.#chosen = width;
    } catch {
      // As above.
    }
  }
}

class Panes {
  /** The column with conversations and servers. */
  readonly left = new KeptWidth("left");
  /** The list beside what is open of it. */
  readonly list = new KeptWidth("list");
}

export const panes = new Panes();
pageState(() => {
  panes.left.begin();
  panes.list.begin();
});
