// The conversation that this window shows alone, and the conversations that are open in other windows.
import { registerPageState } from "$lib/page-state";
import { platform } from "$lib/platform";

class Windows {
  /** Conversation that this window shows alone, or `null` in the main window. */
  readonly own: string | null = new URLSearchParams(location.search).get("conversation");
  /** Conversations that are open in other windows than this one and the main window. */
  elsewhere = $state.raw<readonly string[]>([]);
  /** Set once the list in `elsewhere` has arrived, or can't arrive. */
  isListReceived = $state(false);
  /** Set once the user closes this window. Its content is removed, which stores the draft. */
  isClosing = $state(false);

  /**
   * Set if this window knows the conversations in other windows. Before, it shows no conversation, so that no draft has
   * two editors.
   */
  get isListKnown(): boolean {
    return this.isListReceived || this.own !== null || !platform().hasConversationWindows;
  }

  /** Returns `true` if another window shows the conversation. */
  isElsewhere(conversation: string): boolean {
    return this.elsewhere.includes(conversation);
  }
}

export let windows: Windows;
registerPageState(() => (windows = new Windows()));
