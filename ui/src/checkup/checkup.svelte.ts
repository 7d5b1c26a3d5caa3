// State of the computer check: the reason for which it was opened, and the last findings. Outlives the dialog, so
// that opening it again shows the last findings at once.
import { call, toApiError } from "$lib/api/client";
import type { CheckedComputer, CheckId } from "$lib/api/generated";
import { registerPageState } from "$lib/page-state";

/** Server that failed to start, and the checks that may explain its failure. */
export interface CheckSubject {
  server: string;
  checks: readonly CheckId[];
}

class ComputerCheck {
  isOpen = $state(false);
  about = $state.raw<CheckSubject | null>(null);
  found = $state.raw<CheckedComputer | null>(null);
  busy = $state(false);
  error = $state.raw<unknown>(null);

  /** Opens the dialog and runs all checks again, because the user may have changed the system since the last run. */
  open(about: CheckSubject | null = null): void {
    this.about = about;
    this.isOpen = true;
    void this.check();
  }

  async check(): Promise<void> {
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
registerPageState(() => (computerCheck = new ComputerCheck()));
