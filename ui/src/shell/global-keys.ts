// Keyboard shortcuts of the whole window. Letters are ignored while the user types, and all keys while a consent
// request or another dialog is open.
import { isShortcut } from "$lib/format/keys";
import { isDialogRendered } from "$lib/state/dialogs.svelte";

import { windowActions } from "./window-actions";

export function onkeydown(event: KeyboardEvent): void {
  if (event.defaultPrevented || isDialogRendered()) return;
  const action = windowActions().find(
    ({ keys, hasOwnKeys, isAvailable }) =>
      keys !== undefined && !hasOwnKeys && isAvailable !== false && isShortcut(event, keys),
  );
  if (!action) return;
  event.preventDefault();
  void action.run();
}
