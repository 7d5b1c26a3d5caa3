// How many windows are open in front of the page. What comes from outside waits until none is.
import { pageState } from "$lib/page-state";

class Dialogs {
  open = $state(0);
}

export let dialogs: Dialogs;
pageState(() => (dialogs = new Dialogs()));
