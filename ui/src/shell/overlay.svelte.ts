// The open dialog of the shell.
import { pageState } from "$lib/page-state";

class Overlay {
  palette = $state(false);
  shortcuts = $state(false);
  left = $state(false);
  activity = $state(false);
}

export let overlay: Overlay;
pageState(() => (overlay = new Overlay()));
