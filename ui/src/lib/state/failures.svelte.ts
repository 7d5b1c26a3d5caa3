// Failures of actions that have no place to show them, such as a menu. Shown until dismissed.
import { registerPageState } from "$lib/page-state";

const MAX_FAILURES = 3;

class Failures {
  list = $state.raw<{ id: number; cause: unknown; title?: string }[]>([]);
  #next = 1;

  /** Shows a failure as a notice. `title` replaces the default title of the error's kind. */
  add(cause: unknown, title?: string): void {
    this.list = [...this.list, { id: this.#next++, cause, title }].slice(-MAX_FAILURES);
  }

  close(id: number): void {
    this.list = this.list.filter((failure) => failure.id !== id);
  }
}

export let failures: Failures;
registerPageState(() => (failures = new Failures()));
