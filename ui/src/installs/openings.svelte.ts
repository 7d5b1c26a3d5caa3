// What somebody outside of the page wants opened: a bundle's file, or a link that a web page or another program has fired. The shell
// hands over one at a time and waits until it is done; here that one waits until nothing else is in front.
import { ApiError } from "$lib/api/client";
import { pageState } from "$lib/page-state";
import { platform, type Opening } from "$lib/platform";
import { failures } from "$lib/state/failures.svelte";

import { m } from "../paraglide/messages";

import { installSheet } from "./install-sheet.svelte";
import { refusalText, shortText } from "./install-labels";

/** The most characters of what is not opened. */
const REFUSED = 300;

class Openings {
  /** How many bundles are dragged over the window. */
  over = $state(0);
  #waiting = $state.raw<{ id: number; opening: Opening } | null>(null);
  #isShown = $state(false);

  receive(id: number, opening: Opening): void {
    if (opening.is === "bundle" || opening.is === "link") {
      // A page that is told again has it already.
      this.#waiting ??= { id, opening };
      return;
    }
    const title =
      opening.is === "refused"
        ? refusalText(opening.why)
        : m.installs_left_out({ count: opening.count });
    const message = opening.is === "refused" ? shortText(opening.what, REFUSED) : "";
    failures.add(new ApiError({ code: "invalid", message }), title);
    platform().openingDone(id);
  }

  /** Shows what waits once nothing is in front, and goes on when the sheet is closed. To be called whenever either changes. */
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
pageState(() => (openings = new Openings()));
