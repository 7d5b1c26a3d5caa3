// Values that the user fills in for a pasted server: VS Code's inputs, and the texts that notes of the host are about.
import type { ServerConfig } from "$lib/api/generated";

/** Matches references to a value for which VS Code prompts the user, such as `${input:key}`. */
const INPUT = /\$\{input:([^{}]{1,100})\}/g;
/** Maximum number of inputs of one server that get a field. */
const MAX_INPUTS = 20;

/** Input that a configuration refers to. */
export interface PastedInput {
  /** Reference in the configuration, such as `${input:key}`. */
  reference: string;
  id: string;
  /** Set if the value becomes part of a secret variable or header. */
  secret: boolean;
}

/** Text in a configuration. */
interface ConfigText {
  /** Position of the text in the words of the host's notes, such as `argument 2`. */
  place: string;
  text: string;
  secret: boolean;
}

function configTexts(config: ServerConfig): ConfigText[] {
  const open = (place: string, text: string) => ({ place, text, secret: false });
  if (config.type === "http") {
    const headers = config.headers.flatMap(({ name, value, secret }) =>
      value === null ? [] : [{ place: `the header ${JSON.stringify(name)}`, text: value, secret }],
    );
    return [open("the URL", config.url), ...headers];
  }
  const secrets = config.secretEnv ?? [];
  const variables = Object.entries(config.env).map(([name, text = ""]) => ({
    place: `the variable ${JSON.stringify(name)}`,
    text,
    secret: secrets.includes(name),
  }));
  return [
    open("the command", config.command),
    ...config.args.map((text, index) => open(`argument ${index + 1}`, text)),
    ...variables,
    ...(config.cwd === null ? [] : [open("the folder", config.cwd)]),
  ];
}

/** Returns the inputs that a configuration refers to, each once. */
export function pastedInputs(config: ServerConfig): PastedInput[] {
  const found = new Map<string, PastedInput>();
  for (const { text, secret } of configTexts(config)) {
    for (const [reference, id = ""] of text.matchAll(INPUT)) {
      const isSecret = secret || (found.get(reference)?.secret ?? false);
      found.set(reference, { reference, id, secret: isSecret });
    }
  }
  return [...found.values()].slice(0, MAX_INPUTS);
}

/** Replaces the references to inputs by the entered values. References without a value stay. */
export function fillInputs(config: ServerConfig, values: Record<string, string>): ServerConfig {
  const fill = (text: string) => text.replace(INPUT, (reference) => values[reference] || reference);
  if (config.type === "http") {
    const headers = config.headers.map((header) => ({
      ...header,
      value: header.value === null ? null : fill(header.value),
    }));
    return { ...config, url: fill(config.url), headers };
  }
  const env = Object.entries(config.env).map(([name, value = ""]) => [name, fill(value)] as const);
  return {
    ...config,
    command: fill(config.command),
    args: config.args.map(fill),
    env: Object.fromEntries(env),
    cwd: config.cwd === null ? null : fill(config.cwd),
  };
}

/**
 * Returns the notes that still apply: not those about an empty text, a placeholder or an input that the user has
 * replaced since. A note that can't be assigned to a text is kept.
 */
export function remainingNotes(
  notes: readonly string[],
  before: ServerConfig,
  now: ServerConfig,
): string[] {
  const current = configTexts(now);
  const replaced = configTexts(before).flatMap(({ place, text }) => {
    if (text === "") {
      return current.some((one) => one.place === place && one.text === "")
        ? []
        : [`${place} is empty:`];
    }
    return current.some((one) => one.text === text) ? [] : [`${place} is ${JSON.stringify(text)}:`];
  });
  const filled = pastedInputs(before)
    .filter(({ reference }) => !current.some(({ text }) => text.includes(reference)))
    .map(({ reference }) => `${JSON.stringify(reference)} `);
  const obsolete = [...replaced, ...filled];
  return notes.filter((note) => !obsolete.some((start) => note.startsWith(start)));
}
