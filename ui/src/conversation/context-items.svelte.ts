// Prompts, resources and contexts of apps that are inserted into the conversation with the next message.

import { formatBytes } from "$lib/format/bytes";
import { textBeginning, visibleText } from "$lib/format/text-safety";
import type { Content, ConversationItem, ResourceContents } from "$lib/api/generated";
import { registerPageState } from "$lib/page-state";
import { app } from "$lib/state/app.svelte";
import { languageTag } from "$lib/state/locale.svelte";

import { m } from "../paraglide/messages";
import { fileKindOf, type AttachmentSummary } from "./attachments.svelte";

/** Maximum number of context items per message. */
export const MAX_CONTEXT_ITEMS = 20;
/** Maximum total size of the context items of a message, in bytes of JSON. */
export const MAX_CONTEXT_BYTES = 24 * 1024 * 1024;
/** Maximum number of conversations whose context items are retained. The least recently opened are dropped first. */
const MAX_CONVERSATIONS = 20;

export interface ContextItem {
  id: string;
  kind: "prompt" | "resource" | "skill" | "app";
  /** Display title of the context item. */
  name: string;
  /** Name of the server that offers it. */
  server: string;
  /** Conversation items that are inserted when the message is sent. */
  items: ConversationItem[];
  /** Size of `items` in bytes of JSON. */
  bytes: number;
  /** Content that not every model accepts, such as pictures. */
  files: AttachmentSummary[];
  /** Identifier of the shown app that offers the item. Absent for other kinds. */
  view?: string;
}

/** Context item before it is added to the list. */
export type NewContextItem = Omit<ContextItem, "id" | "bytes" | "files" | "view">;

export class ContextItems {
  all = $state.raw<readonly ContextItem[]>([]);
  /** The reason why the last item was not added, or `null` if it was. */
  problem = $state<string | null>(null);
  /** Time at which an app last changed its item, in milliseconds since the epoch. */
  changedByAppAt = -Infinity;

  /** Adds an item, or records the reason if it exceeds a limit. */
  add(insert: NewContextItem, view?: string): void {
    const bytes = new TextEncoder().encode(JSON.stringify(insert.items)).length;
    this.problem = this.#problem(insert, bytes);
    if (this.problem !== null) return;
    const id = crypto.randomUUID();
    this.all = [...this.all, { ...insert, id, bytes, files: filesOf(insert), view }];
  }

  remove(id: string): void {
    this.all = this.all.filter((one) => one.id !== id);
    this.problem = null;
  }

  /** Adds the item of a shown app in place of its previous one. */
  replaceFrom(view: string, insert: NewContextItem): void {
    this.removeFrom(view);
    this.add(insert, view);
    this.changedByAppAt = Date.now();
  }

  removeFrom(view: string): void {
    this.all = this.all.filter((one) => one.view !== view);
  }

  /** Removes all items from the list and returns them for insertion. */
  take(): readonly ContextItem[] {
    const all = this.all;
    this.all = [];
    this.problem = null;
    return all;
  }

  /** Adds items back to the list that could not be inserted. */
  restore(all: readonly ContextItem[]): void {
    this.all = [...all, ...this.all];
  }

  #problem({ name }: NewContextItem, bytes: number): string | null {
    const called = visibleText(textBeginning(name, 200, 1));
    if (this.all.length >= MAX_CONTEXT_ITEMS)
      return m.conversation_inserts_many({ name: called, most: MAX_CONTEXT_ITEMS });
    const total = this.all.reduce((sum, one) => sum + one.bytes, bytes);
    if (total <= MAX_CONTEXT_BYTES) return null;
    const limit = formatBytes(MAX_CONTEXT_BYTES, languageTag());
    return m.conversation_inserts_large({ name: called, most: limit });
  }
}

/** Context items by conversation, most recently opened last. */
let byConversation: Map<string, ContextItems>;
registerPageState(() => (byConversation = new Map()));

/** Returns the context items of a conversation. They are retained in memory while other conversations are open. */
export function contextItemsOf(conversation: string): ContextItems {
  const contextItems = byConversation.get(conversation) ?? new ContextItems();
  byConversation.delete(conversation);
  byConversation.set(conversation, contextItems);
  const there = new Set(app.conversations.map(({ id }) => id));
  for (const [id, { all }] of byConversation) {
    const isUnused = all.length === 0 || !there.has(id);
    if (id !== conversation && (isUnused || byConversation.size > MAX_CONVERSATIONS))
      byConversation.delete(id);
  }
  return contextItems;
}

function filesOf({ name, items }: NewContextItem): AttachmentSummary[] {
  return items.flatMap(({ body }) => {
    if (body.kind === "attachment") return body.contents.flatMap((part) => blobOf(part, name));
    return body.kind === "message" ? body.content.flatMap((part) => mediaOf(part, name)) : [];
  });
}

function mediaOf(content: Content, name: string): AttachmentSummary[] {
  switch (content.type) {
    case "image":
    case "audio":
      return [{ name, mimeType: content.mimeType, kind: content.type }];
    case "resource":
      return blobOf(content.contents, name);
    default:
      return [];
  }
}

function blobOf({ blob, mimeType }: ResourceContents, name: string): AttachmentSummary[] {
  if (blob === null) return [];
  const type = mimeType ?? "application/octet-stream";
  return [{ name, mimeType: type, kind: fileKindOf(type, decodedBytes(blob)) }];
}

/** Decodes base64 from a server. Invalid data decodes to a single byte that is not text. */
function decodedBytes(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  } catch {
    return new Uint8Array(1);
  }
}
