// Labels of the stop reason and usage of a reply.
import type { Cost, ReplyStop, TokenUsage } from "$lib/api/generated";
import { visibleText } from "$lib/format/text-safety";
import { languageTag } from "$lib/state/locale.svelte";

import type { ModelAction } from "../models/failures";
import { m } from "../paraglide/messages";

/** Returns the translated reason why an answer stopped early, or `null` if it ended normally. */
export function replyStopLabel(stop: ReplyStop): string | null {
  switch (stop.is) {
    case "end_turn":
    case "tool_use":
    case "stop_sequence":
      return null;
    case "max_tokens":
      return m.conversation_stop_max_tokens();
    case "refused":
      return m.conversation_stop_refused();
    case "stopped":
      return m.conversation_stop_stopped();
    case "other":
      return m.conversation_stop_other({ word: visibleText(stop.word) });
  }
}

/**
 * Returns the actions for an answer that stopped for this reason, in the order of their buttons. `null` stands for an
 * interrupted answer.
 */
export function replyStopActions(stop: ReplyStop | null): ModelAction[] {
  if (stop?.is === "max_tokens" || stop?.is === "stopped") return ["continue", "retry"];
  return stop?.is === "refused" ? ["other_model", "retry"] : ["retry"];
}

/** Formats an amount in its currency. Amounts of less than a cent get more digits. */
export function costLabel({ amount, currency }: Cost): string {
  const digits = amount < 0.01 ? { maximumSignificantDigits: 2 } : {};
  try {
    return new Intl.NumberFormat(languageTag(), { style: "currency", currency, ...digits }).format(
      amount,
    );
  } catch {
    // The currency is unknown to the system.
    return `${new Intl.NumberFormat(languageTag(), digits).format(amount)} ${visibleText(currency)}`;
  }
}

const count = (tokens: number) =>
  new Intl.NumberFormat(languageTag(), { notation: "compact" }).format(tokens);

/** Returns the label of the token usage, or `null` if the provider reports none. */
export function tokenLabel({ input, output }: TokenUsage): string | null {
  if (input == null && output == null) return null;
  const known = (tokens: number | null | undefined) => (tokens == null ? "?" : count(tokens));
  return m.conversation_tokens({ input: known(input), output: known(output) });
}
