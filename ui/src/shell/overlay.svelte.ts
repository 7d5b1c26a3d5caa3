// The open dialog of the shell.
import { registerPageState } from "$lib/page-state";

class Overlay {
  palette = $state(false);
  shortcuts = $state(false);
  left = $state(false);
  activity = $state(false);
}

export let overlay: Overlay;
registerPageState(() => (overlay = new Overlay()));
