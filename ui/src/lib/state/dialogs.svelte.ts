// Number of open dialogs. Openings from outside wait until there are none.
import { registerPageState } from "$lib/page-state";

class Dialogs {
  open = $state(0);
}

export let dialogs: Dialogs;
registerPageState(() => (dialogs = new Dialogs()));
