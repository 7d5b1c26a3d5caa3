// View that the user chose in the window of a conversation, or an action that only the main window can run. It waits
// until the user is not deciding anything here.
import { registerPageState } from "$lib/page-state";
import { viewFromHash } from "$lib/state/route";
import { router } from "$lib/state/router.svelte";

import { actionFromHash } from "./main-actions";
import { windowActions } from "./window-actions";

class ChosenView {
  #waiting = $state.raw<string | null>(null);

  /** Records the hash of the view or action. It replaces one that still waits. */
  receive(hash: string): void {
    this.#waiting = hash;
  }

  /**
   * Opens the view, or runs the action, if `isFree` is set. Otherwise it waits, except for quitting, which would be a
   * surprise later. Must be called when a dialog opens or closes and when something is received.
   */
  advance(isFree: boolean): void {
    const hash = this.#waiting;
    if (hash === null) return;
    const action = actionFromHash(hash);
    if (!isFree && action !== "quit") return;
    this.#waiting = null;
    if (!isFree) return;
    if (action === null) router.go(viewFromHash(hash));
    else
      windowActions()
        .find(({ id }) => id === action)
        ?.run();
  }
}

export let chosenView: ChosenView;
registerPageState(() => (chosenView = new ChosenView()));
