// Question whether a conversation may leave its window although its composer contains what is not stored as a draft.
import { registerPageState } from "$lib/page-state";

import { hasUnstoredAdditions } from "../conversation/unstored-additions";

/** The conversation moves to a window of its own, or its window is closed. */
type Reason = "move" | "close";

class Leaving {
  /** The open question, or `null`. `go` continues the move or the closing. */
  asked = $state.raw<{ reason: Reason; go: () => unknown } | null>(null);

  /** Calls `go`, after the user's consent if attached files or added context of the conversation would be lost. */
  ask(conversation: string, reason: Reason, go: () => unknown): void {
    if (hasUnstoredAdditions(conversation)) this.asked = { reason, go };
    else go();
  }
}

export let leaving: Leaving;
registerPageState(() => (leaving = new Leaving()));
