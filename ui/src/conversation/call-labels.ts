// Labels of the state or outcome of a tool call.
import type { ServerCall, ConversationItem, ItemBody, JsonValue } from "$lib/api/generated";
import { jsonWithSortedKeys } from "$lib/format/json";

import { m } from "../paraglide/messages";

type ToolCall = Extract<ItemBody, { kind: "tool_call" }>;

/**
 * Returns the duration of a completed call in milliseconds, without the waits for the user. `null` if it was never
 * sent.
 */
export function ownDuration({ took, waited = 0, result }: ToolCall): number | null {
  return result === null && took > 0 && waited >= took ? null : took - waited;
}

export interface CallLabel {
  words: string;
  /** Set if the call did not succeed. */
  failed: boolean;
}

/** Returns the translated state of a call: `running` while it is running, otherwise its outcome. */
export function callLabel(
  { state }: Pick<ConversationItem, "state">,
  { result, failure }: ToolCall,
  running: ServerCall | undefined,
): CallLabel {
  if (state === "streaming") return { words: underWay(running), failed: false };
  if (result !== null)
    return result.isError
      ? { words: m.conversation_call_error(), failed: true }
      : { words: m.conversation_call_done(), failed: false };
  if (failure === "refused") return { words: m.conversation_call_denied(), failed: true };
  if (failure === "cancelled") return { words: m.conversation_call_cancelled(), failed: true };
  return { words: m.conversation_call_failed(), failed: true };
}

function underWay(running: ServerCall | undefined): string {
  if (running?.state === "awaiting_approval") return m.conversation_call_waiting();
  return running?.state === "awaiting_input"
    ? m.conversation_call_input()
    : m.conversation_call_running();
}

/** Returns the arguments that the model requested if the user changed them before the call, otherwise `null`. */
export function requestedArguments(
  { used, arguments: sent, result }: ToolCall,
  items: readonly ConversationItem[],
): JsonValue | null {
  const reply = used && items.findLast(({ id }) => id === used.reply)?.body;
  if (result === null || reply?.kind !== "reply") return null;
  const use = reply.parts.find((part) => part.type === "tool_use" && part.id === used?.id);
  if (use?.type !== "tool_use") return null;
  try {
    const requested = JSON.parse(use.arguments === "" ? "{}" : use.arguments) as JsonValue;
    return jsonWithSortedKeys(requested) === jsonWithSortedKeys(sent) ? null : requested;
  } catch {
    // Arguments that are not valid JSON were not sent unchanged.
    return null;
  }
}

/** Approximate number of bytes per token. The host uses the same estimate (`crates/chat/src/offered_tools.rs`). */
const BYTES_OF_TOKEN = 4;

/** Returns the approximate number of tokens of the part of the result that the model received. */
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
