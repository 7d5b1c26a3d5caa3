// Copies text to the clipboard and records the outcome, because the system may refuse it.

/** Duration for which a success is shown, in milliseconds. */
const SUCCESS_DISPLAY_MS = 1500;

export class ClipboardCopy {
  done = $state(false);
  /** Text that could not be copied, shown so that the user can copy it manually. `null` if copying succeeded. */
  refused = $state<string | null>(null);

  async copy(text: string): Promise<void> {
    this.refused = null;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      this.refused = text;
      return;
    }
    this.done = true;
    setTimeout(() => (this.done = false), SUCCESS_DISPLAY_MS);
  }
}
