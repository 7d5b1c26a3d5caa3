// Pieces of an answer, put where they belong.
import type { ReplyAppend, ConversationItem, ReplyPart } from "$lib/api/generated";

/** The parts with what was appended; null if it does not fit them. Parts that did not change are the same objects. */
export function applyAppends(
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
 * The items of the branch with a new or changed one; null if it is not known what it follows. A new one is the head: what
 * followed its parent before is another branch.
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

/** Of an item as the page has it and as it was read: what the page was told may be newer. */
export function newerItem(
  own: ConversationItem | undefined,
  read: ConversationItem,
): ConversationItem {
  if (!own || read.state !== "streaming") return read;
  if (own.state !== "streaming") return own;
  return (own.seq ?? 0) > (read.seq ?? 0) ? own : read;
}
