// Queue of bundles and install links that were opened outside of the page. The shell sends one at a time and waits
// until it is done. It is shown once no dialog is open.
import { ApiError } from "$lib/api/client";
import { registerPageState } from "$lib/page-state";
import { platform, type Opening } from "$lib/platform";
import { failures } from "$lib/state/failures.svelte";

import { m } from "../paraglide/messages";

import { installSheet } from "./install-sheet.svelte";
import { refusalText, shortenToLine } from "./install-labels";

/** Maximum number of displayed characters of a refused path or link. */
const REFUSED = 300;

class Openings {
  /** Number of bundles that the user is dragging over the window. */
  over = $state(0);
  #waiting = $state.raw<{ id: number; opening: Opening } | null>(null);
  #isShown = $state(false);

  receive(id: number, opening: Opening): void {
    if (opening.is === "bundle" || opening.is === "link") {
      // After a reload, the shell sends a known opening again.
      this.#waiting ??= { id, opening };
      return;
    }
    const title =
      opening.is === "refused"
        ? refusalText(opening.reason)
        : m.installs_left_out({ count: opening.count });
    const message = opening.is === "refused" ? shortenToLine(opening.what, REFUSED) : "";
    failures.add(new ApiError({ code: "invalid", message }), title);
    platform().openingDone(id);
  }

  /**
   * Shows the pending bundle or link if `isFree` is set, that is, no dialog is open. Reports it as handled after the
   * install sheet was closed. Must be called when a dialog or the sheet opens or closes.
   */
  advance(isFree: boolean): void {
    if (this.#waiting === null || installSheet.isOpen) return;
    const { id, opening } = this.#waiting;
    if (this.#isShown) {
      this.#isShown = false;
      this.#waiting = null;
      platform().openingDone(id);
    } else if (isFree) {
      this.#isShown = true;
      if (opening.is === "link") void installSheet.openLink(opening.link);
      else if (opening.is === "bundle") void installSheet.openGiven(opening.path);
    }
  }
}

export let openings: Openings;
registerPageState(() => (openings = new Openings()));
