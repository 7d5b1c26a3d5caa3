// Labels of providers and models.
import type { Model, ModelPrice, ModelProblem, ProviderKind } from "$lib/api/generated";
import { formatList } from "$lib/format/lists";
import { languageTag, locale } from "$lib/state/locale.svelte";

import { m } from "../paraglide/messages";

import { MODEL_FAILURES } from "./failures";

/** Returns the cause of a problem and its remedy. */
export function modelProblemLabel({ code }: Pick<ModelProblem, "code">): string {
  const { cause, fix } = MODEL_FAILURES[code];
  return m.models_problem_and_fix({ problem: cause(), fix: fix() });
}

/**
 * Returns what a problem says beyond its label in `modelProblemLabel`, or `null`. The message of the host repeats the
 * label.
 */
export function modelProblemDetail({ code, message, cause }: ModelProblem): string | null {
  return code === "noKey" ? null : (cause ?? message);
}

const KINDS: Record<ProviderKind, () => string> = {
  openai: m.models_kind_openai,
  responses: m.models_kind_responses,
  anthropic: m.models_kind_anthropic,
  gemini: m.models_kind_gemini,
  ollama: m.models_kind_ollama,
};
export const PROVIDER_KINDS = Object.keys(KINDS) as ProviderKind[];
export const providerKindLabel = (kind: ProviderKind) => KINDS[kind]();

const LOSSES: Record<string, () => string> = {
  imageInToolResult: m.models_loss_image_in_tool_result,
  audioInToolResult: m.models_loss_audio_in_tool_result,
  fileInToolResult: m.models_loss_file_in_tool_result,
  toolError: m.models_loss_tool_error,
  image: m.models_loss_image,
  audio: m.models_loss_audio,
  file: m.models_loss_file,
  toolRequired: m.models_loss_tool_required,
  stop: m.models_loss_stop,
  temperature: m.models_loss_temperature,
  thinkingWithTools: m.models_loss_thinking_with_tools,
};
export const lossKindLabel = (what: string) => LOSSES[what]?.() ?? what;

const CONVERSIONS: Record<string, () => string> = {
  refuse: m.models_then_refuse,
  sendAfter: m.models_then_send_after,
  sayInText: m.models_then_say_in_text,
  leaveOut: m.models_then_leave_out,
};
export const conversionLabel = (then: string) => CONVERSIONS[then]?.() ?? then;

/** Formats a number of tokens in short form, such as `128K`. */
export function formatTokens(count: number | null): string {
  if (count === null) return m.models_unknown();
  return new Intl.NumberFormat(locale(), { notation: "compact" }).format(count);
}

/** Formats a price without rounding it. */
export function priceLabel(price: ModelPrice | null): string {
  if (price === null) return m.models_unknown();
  const style = { style: "currency", currency: price.currency, maximumFractionDigits: 3 } as const;
  let format: Intl.NumberFormat;
  try {
    format = new Intl.NumberFormat(locale(), style);
  } catch {
    // The currency is unknown to the system.
    format = new Intl.NumberFormat(locale(), { maximumFractionDigits: 3 });
  }
  return m.models_price({ input: format.format(price.input), output: format.format(price.output) });
}

/** Returns the label of the date or source of a price. */
export function priceSourceLabel({ asOf }: ModelPrice): string {
  // Otherwise the source is named in English, by the host.
  if (!/^\d{4}-\d{2}-\d{2}$/.test(asOf)) return m.models_prices_of_provider();
  const format = new Intl.DateTimeFormat(languageTag(), { dateStyle: "medium", timeZone: "UTC" });
  return m.models_prices_as_of({ date: format.format(Date.parse(asOf)) });
}

const takesOf = (model: Model): [boolean | null, () => string][] => [
  [model.images, m.models_takes_images],
  [model.audio, m.models_takes_audio],
  [model.files, m.models_takes_files],
  [model.tools, m.models_takes_tools],
  [model.thinking, m.models_takes_thinking],
];

/** Returns `true` if all input types of a model are unknown. */
export const hasUnknownInputTypes = (model: Model) =>
  takesOf(model).every(([known]) => known === null);

/** Returns the label of the input types that a model is known to accept in addition to text. */
export function inputTypesLabel(model: Model): string {
  if (hasUnknownInputTypes(model)) return m.models_unknown();
  const list = takesOf(model).flatMap(([known, words]) => (known === true ? [words()] : []));
  return formatList(list, languageTag());
}
