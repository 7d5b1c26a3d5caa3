// Applies streamed updates to the items of a conversation.
import type { ReplyAppend, ConversationItem, ReplyPart } from "$lib/api/generated";

/**
 * Returns the parts of a reply with the appended text, or `null` if the update does not fit the parts. Unchanged parts
 * are the same objects.
 */
export function appendToParts(
  parts: readonly ReplyPart[],
  appends: readonly ReplyAppend[],
): ReplyPart[] | null {
  const now = [...parts];
  for (const append of appends) {
    const part = now[append.part];
    const next = part
      ? extendPart(part, append)
      : append.part === now.length
        ? newPart(append)
        : null;
    if (next === null) return null;
    now[append.part] = next;
  }
  return now;
}

function newPart(append: ReplyAppend): ReplyPart | null {
  switch (append.type) {
    case "text":
      return { type: "text", text: append.text };
    case "thinking":
      return { type: "thinking", text: append.text };
    case "tool_use": {
      const { id, key, server, tool } = append;
      return { type: "tool_use", id, key, server, tool, arguments: "" };
    }
    case "arguments":
      return null;
  }
}

function extendPart(part: ReplyPart, append: ReplyAppend): ReplyPart | null {
  if (append.type === "arguments") {
    if (part.type !== "tool_use") return null;
    return { ...part, arguments: part.arguments + append.text };
  }
  if (append.type === "tool_use" || part.type !== append.type) return null;
  return { ...part, text: part.text + append.text };
}

/**
 * Returns the items of the branch with a new or changed item, or `null` if its parent is unknown. A new item becomes
 * the head: items that followed its parent belong to another branch.
 */
export function upsertItem(
  items: readonly ConversationItem[],
  item: ConversationItem,
): ConversationItem[] | null {
  const at = items.findLastIndex((other) => other.id === item.id);
  const old = items[at];
  if (old) return items.with(at, old.siblings ? { siblings: old.siblings, ...item } : item);
  if (item.parent === undefined) return [item];
  const parent = items.findLastIndex((other) => other.id === item.parent);
  return parent < 0 ? null : [...items.slice(0, parent + 1), item];
}

/**
 * Returns the newer of two versions of an item: that from events, or that from the last read. Events may be newer than
 * the read.
 */
export function newerItem(
  known: ConversationItem | undefined,
  read: ConversationItem,
): ConversationItem {
  if (!known || read.state !== "streaming") return read;
  if (known.state !== "streaming") return known;
  return (known.seq ?? 0) > (read.seq ?? 0) ? known : read;
}
