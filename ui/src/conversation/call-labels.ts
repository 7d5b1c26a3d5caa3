// Words for how a call of a tool is, or how it ended.
import type { ServerCall, ConversationItem, ItemBody, JsonValue } from "$lib/api/generated";
import { orderedJson } from "$lib/format/json";

import { m } from "../paraglide/messages";

type ToolCall = Extract<ItemBody, { kind: "tool_call" }>;

export interface CallLabel {
  words: string;
  /** Whether it did not end with what was asked for. */
  failed: boolean;
}

/** `running` is the call as it is now, while it is under way. */
export function callLabel(
  { state }: Pick<ConversationItem, "state">,
  { result, error, failure }: ToolCall,
  running: ServerCall | undefined,
): CallLabel {
  if (state === "streaming") return { words: underWay(running), failed: false };
  if (result !== null)
    return result.isError
      ? { words: m.conversation_call_error(), failed: true }
      : { words: m.conversation_call_done(), failed: false };
  // In conversations of older versions only the words tell how a call ended that has no result.
  if (failure === "refused" || error?.startsWith("refused: "))
    return { words: m.conversation_call_denied(), failed: true };
  if (failure === "cancelled" || error === "cancelled")
    return { words: m.conversation_call_cancelled(), failed: true };
  return { words: m.conversation_call_failed(), failed: true };
}

function underWay(running: ServerCall | undefined): string {
  if (running?.state === "awaiting_approval") return m.conversation_call_waiting();
  return running?.state === "awaiting_input"
    ? m.conversation_call_input()
    : m.conversation_call_running();
}

/** What the model asked for, if the user changed it before it was sent. */
export function requestedArguments(
  { used, arguments: sent, result }: ToolCall,
  items: readonly ConversationItem[],
): JsonValue | null {
  const reply = used && items.findLast(({ id }) => id === used.reply)?.body;
  if (result === null || reply?.kind !== "reply") return null;
  const use = reply.parts.find((part) => part.type === "tool_use" && part.id === used?.id);
  if (use?.type !== "tool_use") return null;
  try {
    const asked = JSON.parse(use.arguments === "" ? "{}" : use.arguments) as JsonValue;
    return orderedJson(asked) === orderedJson(sent) ? null : asked;
  } catch {
    // What is no JSON was not sent as it stood.
    return null;
  }
}

/** So many bytes are about one token; the host reckons in the same way (`crates/chat/src/offered_tools.rs`). */
const BYTES_OF_TOKEN = 4;

/** About how many tokens of its result the model got. */
export function resultTokens({ result, leftOut }: ToolCall): number {
  const texts = (result?.content ?? []).map((content) =>
    content.type === "text"
      ? content.text
      : content.type === "resource"
        ? (content.contents.text ?? "")
        : "",
  );
  const bytes = new TextEncoder().encode(texts.join("")).length - (leftOut ?? 0);
  return Math.max(0, Math.ceil(bytes / BYTES_OF_TOKEN));
}
