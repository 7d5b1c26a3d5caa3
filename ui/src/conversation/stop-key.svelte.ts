// Escape in the composer, which stops the answer unless the key may be meant for something else.
import { app } from "$lib/state/app.svelte";
import { dialogs, isDialogRendered } from "$lib/state/dialogs.svelte";

import { conversationOf, isConsentOpen } from "../consent";
import { overlay } from "../shell/overlay.svelte";

/** Elements that Escape closes, except dialogs: menus, and an app in the whole window. */
const ABOVE_CONVERSATION = "[role=menu], [data-raised=fullscreen]";
/**
 * Time after a dialog was closed in which Escape stops nothing, in milliseconds. The dialog has returned the focus, and
 * a second key press may still be meant for it.
 */
const AFTER_DIALOG = 1_000;

/**
 * Returns a function that returns `true` while Escape stops the answer in this conversation. Must be called while a
 * component is initialized.
 */
export function watchStopKey(conversation: string): () => boolean {
  const hasDialog = $derived(
    dialogs.open > 0 || dialogs.sheets > 0 || overlay.palette || isConsentOpen(),
  );
  let closedAt = -Infinity;
  $effect(() => {
    if (hasDialog) return () => (closedAt = performance.now());
  });
  return () => {
    if (isDialogRendered() || document.querySelector(ABOVE_CONVERSATION) !== null) return false;
    if (performance.now() - closedAt < AFTER_DIALOG) return false;
    // A call that waits for a decision, also one to be made later, would end. Only the button ends it.
    return !app.consentRequests.some((request) => conversationOf(request) === conversation);
  };
}
