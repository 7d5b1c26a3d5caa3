// Numbers of open dialogs and sheets. Openings from outside wait until there are no dialogs.
import { registerPageState } from "$lib/page-state";

class Dialogs {
  /** Number of open dialogs, without sheets. */
  open = $state(0);
  /** Number of open dialogs at an edge of the window. */
  sheets = $state(0);
}

export let dialogs: Dialogs;
registerPageState(() => (dialogs = new Dialogs()));
