// State of the open conversation: its items, which are read when it opens and when they change, and streamed answers.

import { tick } from "svelte";

import { call, toApiError, type ApiError } from "$lib/api/client";
import type {
  ServerCall,
  Conversation,
  ConversationItem,
  ConversationSettings,
  ConversationTools,
  Event,
  MessageAttachment,
  ModelRef,
} from "$lib/api/generated";
import { app, hasEnded } from "$lib/state/app.svelte";
import { serializeReads } from "$lib/state/one-at-a-time";

import { appendToParts, newerItem, upsertItem } from "./item-updates";
import { setAutomaticTitle } from "./automatic-title";
import { rememberModel } from "./last-model";

/** Number of items per read of earlier items. */
const PAGE = 100;
/** Number of items per read while an item is searched for. Equals the maximum of the host. */
const LARGE_PAGE = 200;

export class OpenConversation {
  readonly id: string;
  conversation = $state.raw<Conversation | null>(null);
  /** Items of the selected branch that are loaded, in order. */
  items = $state.raw<ConversationItem[]>([]);
  /** Set if the branch has earlier items that are not loaded. */
  hasMore = $state(false);
  /** Set while a model is answering. */
  answering = $state(false);
  /** Incremented when the user requests another model. Each change focuses the model selection. */
  modelChoices = $state(0);
  /** Id of the message to open for editing, or `null` if there is none. */
  editedItem = $state<string | null>(null);
  error = $state.raw<ApiError | null>(null);
  /** Tools of the conversation's servers as last read, or `null` before the first read. */
  tools = $state.raw<ConversationTools | null>(null);

  /** Latest state of the streamed answer, which is rendered with the next frame. */
  #live: ConversationItem | null = null;
  #frame: number | null = null;
  /** Number of events so far that changed the items. */
  #changes = 0;
  /** Ids of the replies that a model was writing while the conversation was open. */
  readonly #writtenReplies = new Set<string>();
  /** Ids of the calls that were displayed after their end. */
  readonly #endedCalls = new Set<string>();

  constructor(id: string) {
    this.id = id;
  }

  /** Title from the conversation list, which is updated before `conversation`. */
  readonly title: string = $derived.by(
    () => app.conversations.find((c) => c.id === this.id)?.title ?? this.conversation?.title ?? "",
  );
  /** Running calls that no item represents yet. Once the item of a call exists, it renders the call. */
  readonly calls: ServerCall[] = $derived.by(() => {
    const runningCalls = app.calls.filter((c) => c.conversation === this.id && !hasEnded(c));
    // The items change with each streamed piece and may be thousands.
    return runningCalls.filter(
      (c) => this.items.findLast((item) => item.id === c.id) === undefined,
    );
  });
  readonly settings: ConversationSettings | null = $derived.by(
    () => this.conversation?.settings ?? null,
  );

  /**
   * Returns `true` if a call ended just now: it is running, or it is displayed for the first time after its end and a
   * model requested it while the conversation was open. A short call can end before it is displayed at all.
   */
  endedJustNow({ id, state, body }: ConversationItem): boolean {
    if (state === "streaming") return true;
    const reply = body.kind === "tool_call" ? body.used?.reply : undefined;
    return reply !== undefined && this.#writtenReplies.has(reply) && !this.#endedCalls.has(id);
  }

  /** Records that a call is displayed after its end. */
  noteDisplayedEnd(id: string): void {
    this.#endedCalls.add(id);
  }

  /** Opens the user's last message for editing. */
  editLast(): void {
    const isOwn = ({ body }: ConversationItem) =>
      body.kind === "message" && body.role === "user" && body.prompt === null;
    this.editedItem = this.items.findLast(isOwn)?.id ?? null;
    // A message that is not rendered does not take the request, and must not take it later.
    void tick().then(() => (this.editedItem = null));
  }

  /** Reads the conversation and applies its changes until the returned function is called. */
  follow(): () => void {
    void this.read();
    const end = app.onEvent((event) => this.#receive(event));
    return () => {
      end();
      if (this.#frame !== null) cancelAnimationFrame(this.#frame);
      this.#frame = null;
    };
  }

  readonly read = serializeReads(async () => {
    const changes = this.#changes;
    try {
      this.#applyRead(await call("read_conversation", { conversation: this.id }));
      this.error = null;
    } catch (cause) {
      this.error = toApiError(cause);
      return;
    }
    // Events that arrived during the read may be newer than its result.
    if (changes !== this.#changes) void this.read();
  });

  /** Reads the tools of the conversation's servers. After a failed read, none are known. */
  readonly readTools = serializeReads(async () => {
    try {
      this.tools = await call("list_conversation_tools", { conversation: this.id });
    } catch {
      this.tools = null;
    }
  });

  async readEarlier(): Promise<void> {
    const first = this.items[0];
    if (!first) return;
    const request = { conversation: this.id, before: first.id, limit: PAGE };
    const { items, hasMore } = await call("read_conversation_items", request);
    if (this.items[0]?.id !== first.id) return;
    this.items = [...items, ...this.items];
    this.hasMore = hasMore;
  }

  /** Loads earlier items until this item is loaded. Resolves to `false` if the selected branch does not contain it. */
  async reach(id: string): Promise<boolean> {
    const isThere = (items: readonly ConversationItem[]) => items.some((item) => item.id === id);
    // Its branch may just have been selected.
    if (!isThere(this.items)) await this.read();
    let [earlier, hasMore]: [ConversationItem[], boolean] = [[], this.hasMore];
    const first = this.items[0];
    for (
      let at = first;
      at && hasMore && !isThere(this.items) && !isThere(earlier);
      at = earlier[0]
    ) {
      const request = { conversation: this.id, before: at.id, limit: LARGE_PAGE };
      const page = await call("read_conversation_items", request);
      earlier = [...page.items, ...earlier];
      hasMore = page.hasMore && page.items.length > 0;
    }
    // Set at once, so that intermediate pages are not rendered.
    if (earlier.length > 0 && this.items[0]?.id === first?.id) {
      this.items = [...earlier, ...this.items];
      this.hasMore = hasMore;
    }
    return isThere(this.items);
  }

  /** Sends a message to the model. Without a model, the message is only stored. */
  async say(text: string, attachments: MessageAttachment[], model: ModelRef | null): Promise<void> {
    const first = this.items.length === 0;
    if (model) {
      await call("send_message", { conversation: this.id, text, attachments, model });
      rememberModel(model);
    } else {
      const item: ConversationItem = {
        id: crypto.randomUUID(),
        at: Date.now(),
        body: {
          ...{ kind: "message", role: "user", prompt: null },
          content: text === "" ? [] : [{ type: "text", text }],
          ...(attachments.length === 0 ? {} : { attachments }),
        },
      };
      await call("append_items", { conversation: this.id, items: [item] });
    }
    if (first) await setAutomaticTitle(this.id, text || (attachments[0]?.name ?? ""));
  }

  /** Changes the given settings of the conversation. */
  async set(changes: Partial<ConversationSettings>): Promise<void> {
    if (!this.conversation) return;
    const settings = { ...this.conversation.settings, ...changes };
    // Applied at once, so that a second change builds on it.
    this.conversation = { ...this.conversation, settings };
    try {
      await call("set_conversation", { conversation: this.id, settings });
      if (changes.model) rememberModel(changes.model);
    } catch (cause) {
      void this.read();
      throw cause;
    }
  }

  #receive(event: Event): void {
    if (event.type === "conversations_changed") {
      if (event.changed === this.id) void this.read();
    } else if (event.type === "reply_delta") {
      if (event.conversation === this.id) this.#append(event);
    } else if (event.type === "item_changed" && event.conversation === this.id) {
      this.#changes += 1;
      this.answering = event.answering;
      this.#upsert(event.item);
    }
  }

  #append({ item: id, seq, append }: Extract<Event, { type: "reply_delta" }>): void {
    const reply =
      this.#live?.id === id ? this.#live : this.items.findLast((item) => item.id === id);
    if (reply && reply.state !== "streaming") return;
    const next = reply?.seq ?? 0;
    if (reply && seq < next) return;
    const parts =
      reply?.body.kind === "reply" && seq === next ? appendToParts(reply.body.parts, append) : null;
    if (!reply || reply.body.kind !== "reply" || parts === null) {
      void this.read();
      return;
    }
    this.#live = { ...reply, seq: seq + 1, body: { ...reply.body, parts } };
    // Rendered once per frame, however fast it streams.
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = null;
      this.#paint();
    });
  }

  #paint(): void {
    const live = this.#live;
    const at = live ? this.items.findLastIndex((item) => item.id === live.id) : -1;
    if (live && at >= 0) this.items = this.items.with(at, live);
  }

  #upsert(item: ConversationItem): void {
    if (this.#live?.id === item.id) this.#live = null;
    const items = upsertItem(this.items, item);
    if (items === null) {
      void this.read();
      return;
    }
    if (item.parent === undefined) this.hasMore = false;
    this.#noteWrittenReplies([item]);
    this.items = items;
  }

  #noteWrittenReplies(items: readonly ConversationItem[]): void {
    for (const { id, state, body } of items) {
      if (body.kind === "reply" && state === "streaming") this.#writtenReplies.add(id);
    }
  }

  #applyRead(read: Conversation): void {
    this.#paint();
    this.#live = null;
    const runningCalls = new Map(this.items.map((item) => [item.id, item]));
    const items = read.items.map((item) => newerItem(runningCalls.get(item.id), item));
    this.#noteWrittenReplies(items);
    const at = this.items.findIndex((item) => item.id === items[0]?.id);
    const earlier = at > 0 ? this.items.slice(0, at) : [];
    if (earlier.length === 0) this.hasMore = read.hasMore;
    this.items = [...earlier, ...items];
    this.answering = read.answering;
    this.conversation = read;
  }
}
