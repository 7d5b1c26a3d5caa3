// How wide the panes are that the user can resize, in pixels. It holds as long as the page.
import { pageState } from "$lib/page-state";

export interface PaneWidth {
  /** Nothing until the user chose one: then it is as wide as its place makes it. */
  chosen: number | null;
}

class Panes {
  /** The column with conversations and servers. */
  left = $state<PaneWidth>({ chosen: null });
  /** The list beside what is open of it. */
  list = $state<PaneWidth>({ chosen: null });
}

export const panes = new Panes();
pageState(() => {
  panes.left.chosen = null;
  panes.list.chosen = null;
});
