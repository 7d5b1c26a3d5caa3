// The conversation in front: its items, read when it opens and again whenever they change.

import { call, toApiError, type ApiError } from "$lib/api/client";
import type { Call, Conversation, ConversationItem } from "$lib/api/generated";
import { app, hasEnded } from "$lib/state/app.svelte";
import { oneAtATime } from "$lib/state/one-at-a-time";

import { nameAfter } from "./name";

export class OpenConversation {
  readonly id: string;
  conversation = $state.raw<Conversation | null>(null);
  error = $state.raw<ApiError | null>(null);

  constructor(id: string) {
    this.id = id;
  }

  readonly items: ConversationItem[] = $derived.by(() => this.conversation?.items ?? []);
  /** The title as the list has it, which is newer than the items. */
  readonly title: string = $derived.by(
    () => app.conversations.find((c) => c.id === this.id)?.title ?? this.conversation?.title ?? "",
  );
  /** Its calls that are under way. A call whose item is there has ended, whatever came first. */
  readonly calls: Call[] = $derived.by(() => {
    const kept = new Set(this.items.map((item) => item.id));
    return app.calls.filter((c) => c.conversation === this.id && !hasEnded(c) && !kept.has(c.id));
  });

  /** Reads it and follows its changes. Returns how to end that. */
  follow(): () => void {
    void this.read();
    return app.onEvent((event) => {
      if (event.type === "conversations_changed" && event.changed === this.id) void this.read();
    });
  }

  readonly read = oneAtATime(async () => {
    try {
      this.conversation = await call("conversation", { conversation: this.id });
      this.error = null;
    } catch (cause) {
      this.error = toApiError(cause);
    }
  });

  /** Writes down what the user says. */
  async say(text: string): Promise<void> {
    const item: ConversationItem = {
      id: crypto.randomUUID(),
      at: Date.now(),
      body: { kind: "message", role: "user", content: [{ type: "text", text }], prompt: null },
    };
    const first = this.conversation?.items.length === 0;
    await call("append_items", { conversation: this.id, items: [item] });
    if (first) await nameAfter(this.id, text);
  }
}
