// Values that the user fills in for a pasted server: VS Code's inputs, and the texts that notes of the host are about.
import type { ImportNote, ImportPlace, ServerConfig } from "$lib/api/generated";

/** Matches references to a value for which VS Code prompts the user, such as `${input:key}`. */
const INPUT = /\$\{input:([^{}]{1,100})\}/g;
/** Maximum number of inputs of one server that get a field. */
const MAX_INPUTS = 20;

/** Input that a configuration refers to. */
export interface PastedInput {
  /** Reference in the configuration, such as `${input:key}`. */
  reference: string;
  id: string;
  /** Set if the value is a password, or becomes part of a secret variable or header. */
  secret: boolean;
}

/** Text in a configuration. */
interface ConfigText {
  place: ImportPlace;
  text: string;
  secret: boolean;
}

function configTexts(config: ServerConfig): ConfigText[] {
  const open = (place: ImportPlace, text: string) => ({ place, text, secret: false });
  const named = (name: string): ImportPlace => ({ is: "value", name });
  if (config.type === "http") {
    const headers = config.headers.flatMap(({ name, value, secret }) =>
      value === null ? [] : [{ place: named(name), text: value, secret }],
    );
    return [open({ is: "url" }, config.url), ...headers];
  }
  const secrets = config.secretEnv ?? [];
  const variables = Object.entries(config.env).map(([name, text = ""]) => ({
    place: named(name),
    text,
    secret: secrets.includes(name),
  }));
  return [
    open({ is: "command" }, config.command),
    ...config.args.map((text, index) => open({ is: "argument", number: index + 1 }, text)),
    ...variables,
    ...(config.cwd === null ? [] : [open({ is: "folder" }, config.cwd)]),
  ];
}

/** Returns the inputs that a configuration refers to, each once. `notes` are those of the host. */
export function pastedInputs(config: ServerConfig, notes: readonly ImportNote[]): PastedInput[] {
  const passwords = notes
    .filter(({ kind }) => kind === "plain_password")
    .map(({ names }) => names[0]);
  const found = new Map<string, PastedInput>();
  for (const { text, secret } of configTexts(config)) {
    for (const [reference, id = ""] of text.matchAll(INPUT)) {
      const isSecret =
        secret || passwords.includes(reference) || (found.get(reference)?.secret ?? false);
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

function isSamePlace(one: ImportPlace, other: ImportPlace | null): boolean {
  if (other === null || one.is !== other.is) return false;
  if (one.is === "argument" && other.is === "argument") return one.number === other.number;
  if (one.is === "value" && other.is === "value") return one.name === other.name;
  return true;
}

/**
 * Returns `true` if a note about a password no longer applies, because the user has moved its reference to a secret
 * variable or header.
 */
export function isPasswordMoved(
  { names: [reference = ""] }: ImportNote,
  draft: ServerConfig,
): boolean {
  const uses = configTexts(draft).filter(({ text }) => text.includes(reference));
  return uses.length > 0 && uses.every(({ secret }) => secret);
}

/**
 * Returns `true` if a note of the host no longer applies, because the user has replaced the empty text, the placeholder
 * or the input that it is about. `before` is the configuration that the host returned.
 */
export function isResolved(note: ImportNote, before: ServerConfig, now: ServerConfig): boolean {
  const current = configTexts(now);
  switch (note.kind) {
    case "empty":
    case "placeholder":
    case "as_written": {
      const about = configTexts(before).find(({ place }) => isSamePlace(place, note.place));
      if (!about) return false;
      // An argument may have moved to another position.
      return !current.some(
        ({ place, text }) => text === about.text && (text !== "" || isSamePlace(place, note.place)),
      );
    }
    case "input":
    case "command_input": {
      const used = pastedInputs(before, []).find(({ reference }) => reference === note.names[0]);
      return !!used && !current.some(({ text }) => text.includes(used.reference));
    }
    default:
      return false;
  }
}
