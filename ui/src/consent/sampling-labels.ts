// Labels of sampling requests.

import type { ModelChoiceReason, SamplingLoss } from "$lib/api/generated";
import { visibleText } from "$lib/format/text-safety";
import { languageTag } from "$lib/state/locale.svelte";

import { m } from "../paraglide/messages";
import { displayName } from "./consent-labels";

const MICROS_PER_DOLLAR = 1_000_000;

/** Formats an amount in millionths of a US dollar. */
export function formatMicroDollars(micros: number): string {
  const style = { style: "currency", currency: "USD", maximumSignificantDigits: 3 } as const;
  return new Intl.NumberFormat(languageTag(), style).format(micros / MICROS_PER_DOLLAR);
}

/** Returns a translated sentence with the reason why a model was chosen. */
export function modelChoiceReason(by: ModelChoiceReason): string {
  switch (by.is) {
    case "user":
      return m.sampling_by_user();
    case "setting":
      return m.sampling_by_setting();
    case "hint":
      return m.sampling_by_hint({ hint: displayName(by.hint) });
    case "equivalent":
      return m.sampling_by_equivalent({ hint: displayName(by.hint) });
    case "priorities": {
      const list = new Intl.ListFormat(languageTag(), { type: "conjunction" });
      return m.sampling_by_priorities({
        priorities: list.format(by.priorities.map(priorityLabel)),
      });
    }
    case "default":
      return m.sampling_by_default();
    case "first":
      return m.sampling_by_first();
  }
}

function priorityLabel(name: string): string {
  return labelOf(name, {
    cost: m.sampling_priority_cost,
    speed: m.sampling_priority_speed,
    intelligence: m.sampling_priority_intelligence,
  });
}

/** Returns the label of content that a provider can't represent, with its replacement. */
export function lossLabel(loss: SamplingLoss): string {
  const what = labelOf(loss.feature, {
    imageInToolResult: m.sampling_loss_imageInToolResult,
    audioInToolResult: m.sampling_loss_audioInToolResult,
    fileInToolResult: m.sampling_loss_fileInToolResult,
    toolError: m.sampling_loss_toolError,
    image: m.sampling_loss_image,
    audio: m.sampling_loss_audio,
    file: m.sampling_loss_file,
    toolRequired: m.sampling_loss_toolRequired,
    stop: m.sampling_loss_stop,
    temperature: m.sampling_loss_temperature,
    thinkingWithTools: m.sampling_loss_thinkingWithTools,
  });
  const then = labelOf(loss.conversion, {
    refuse: m.sampling_then_refuse,
    sendAfter: m.sampling_then_sendAfter,
    sayInText: m.sampling_then_sayInText,
    leaveOut: m.sampling_then_leaveOut,
  });
  return m.sampling_loss({ what, then });
}

/** Returns the translated label of a tool choice. Unknown choices are returned unchanged. */
export function toolChoiceLabel(choice: string | null): string {
  return labelOf(choice ?? "auto", {
    auto: m.sampling_tool_auto,
    required: m.sampling_tool_required,
    none: m.sampling_tool_none,
  });
}

/**
 * Returns the translation of a protocol value from a table. Values that the table does not contain, such as those of
 * later versions, are returned unchanged.
 */
function labelOf(name: string, words: Record<string, () => string>): string {
  return (Object.hasOwn(words, name) ? words[name]?.() : undefined) ?? visibleText(name);
}
