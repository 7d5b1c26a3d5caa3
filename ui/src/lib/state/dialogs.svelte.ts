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

/** Returns `true` if the page contains a dialog of any kind, also one that is not counted. */
export function isDialogRendered(): boolean {
  return document.querySelector("[role=dialog], [role=alertdialog]") !== null;
}
