// Putting text into the clipboard, and whether that worked: the system may refuse it.

/** How long it is said that it worked. */
const SHOWN_MS = 1500;

export class ClipboardCopy {
  done = $state(false);
  /** What could not be copied, for the user to do it by hand. */
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
    setTimeout(() => (this.done = false), SHOWN_MS);
  }
}
