// The look at this computer: what it was opened for, and what was found. It outlives the dialog, so that opening it again shows at once what
// was found last.
import { call, toApiError } from "$lib/api/client";
import type { CheckedComputer, CheckId } from "$lib/api/generated";
import { pageState } from "$lib/page-state";

/** The server that the look is about, and the checks that its failure asks for. */
export interface About {
  server: string;
  checks: readonly CheckId[];
}

class ComputerCheck {
  isOpen = $state(false);
  about = $state.raw<About | null>(null);
  found = $state.raw<CheckedComputer | null>(null);
  busy = $state(false);
  error = $state.raw<unknown>(null);

  /** Opens the dialog, and looks anew: the user may have changed something since. */
  open(about: About | null = null): void {
    this.about = about;
    this.isOpen = true;
    void this.look();
  }

  async look(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.error = null;
    try {
      this.found = await call("check_computer", {});
    } catch (cause) {
      this.error = toApiError(cause);
    }
    this.busy = false;
  }
}

export let computerCheck: ComputerCheck;
pageState(() => (computerCheck = new ComputerCheck()));
