// Attached files and added context in the composers of open conversations, which are not stored with the draft.
import { registerPageState } from "$lib/page-state";

let composers: Map<string, () => boolean>;
registerPageState(() => (composers = new Map()));

/** Registers the composer of a conversation until the returned function is called. */
export function registerAdditions(conversation: string, hasAdditions: () => boolean): () => void {
  composers.set(conversation, hasAdditions);
  return () => {
    if (composers.get(conversation) === hasAdditions) composers.delete(conversation);
  };
}

/** Returns `true` if the conversation is open and its composer contains files or context. */
export function hasUnstoredAdditions(conversation: string): boolean {
  return composers.get(conversation)?.() ?? false;
}
