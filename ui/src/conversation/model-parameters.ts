// Temperature and maximum reply length of a conversation, as the user enters them.
import { MAX_REPLY_TOKENS, MAX_TEMPERATURE, type ModelRef, type Models } from "$lib/api/generated";

import { formatCount } from "../consent/consent-labels";
import { m } from "../paraglide/messages";

/** Maximum values of the parameters. */
export interface ParameterLimits {
  temperature: number;
  tokens: number;
}

/** An entered parameter. The value `undefined` stands for the default of the provider. */
export interface Parameter {
  value: number | undefined;
  /** The reason why the text is invalid, or `null`. */
  problem: string | null;
}

const DECIMAL = /^\d{1,3}(\.\d{0,6})?$/;
const WHOLE = /^\d{1,9}$/;

/** Returns the limits for a model. Without a model, or for an unknown one, the limits of all models apply. */
export function parameterLimits(models: Models | null, model: ModelRef | null): ParameterLimits {
  const provider = models?.providers.find(({ id }) => id === model?.provider);
  const known = provider?.models.find(({ id }) => id === model?.model);
  return {
    temperature: provider
      ? MAX_TEMPERATURE[provider.kind]
      : Math.max(...Object.values(MAX_TEMPERATURE)),
    tokens: Math.min(known?.maxOutput ?? MAX_REPLY_TOKENS, MAX_REPLY_TOKENS),
  };
}

/** Parses a temperature. An empty text stands for the default. */
export function parseTemperature(text: string, limit: number): Parameter {
  const entered = text.trim();
  if (entered === "") return { value: undefined, problem: null };
  const value = Number(entered);
  if (DECIMAL.test(entered) && value <= limit) return { value, problem: null };
  return { value: undefined, problem: m.conversation_temperature_problem({ limit }) };
}

/** Parses a maximum number of tokens. An empty text stands for the default. */
export function parseTokens(text: string, limit: number): Parameter {
  const entered = text.trim();
  if (entered === "") return { value: undefined, problem: null };
  const value = Number(entered);
  if (WHOLE.test(entered) && value >= 1 && value <= limit) return { value, problem: null };
  return {
    value: undefined,
    problem: m.conversation_max_tokens_problem({ limit: formatCount(limit) }),
  };
}
