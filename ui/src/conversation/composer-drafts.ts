// Drafts that apps write into the composer of an open conversation.
import { registerPageState } from "$lib/page-state";

/** Adds text to the draft, or returns `false` if it would be too long or contains text of an app. */
type Receiver = (text: string, server: string) => boolean;

let receivers: Map<string, Receiver>;
registerPageState(() => (receivers = new Map()));

/** Registers the composer of a conversation until the returned function is called. */
export function receiveDrafts(conversation: string, receiver: Receiver): () => void {
  receivers.set(conversation, receiver);
  return () => {
    if (receivers.get(conversation) === receiver) receivers.delete(conversation);
  };
}

/**
 * Adds text of a server's app to the draft. Returns `false` if the conversation is not open, or the draft is full or
 * already contains text of an app.
 */
export function addToDraft(conversation: string, text: string, server: string): boolean {
  return receivers.get(conversation)?.(text, server) ?? false;
}
