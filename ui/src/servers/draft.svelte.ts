// Form data of a server: a local command or a URL.
import type { AuthSettings, HttpHeader, HttpKind, ServerConfig } from "$lib/api/generated";
import { joinCommand } from "$lib/format/command-line";

import { authDraft, authSettingsFromDraft, type AuthDraft } from "./draft-auth";
import { SandboxDraft } from "./draft-sandbox.svelte";
import { ToolFilterDraft } from "./draft-tools.svelte";

interface Row {
  id: number;
}
export interface ArgRow extends Row {
  value: string;
  /** Set if the argument was already empty in the stored configuration. */
  isStoredEmpty: boolean;
}
/** Row of an environment variable or a header. */
export interface NamedValueRow extends Row {
  name: string;
  /** Entered value. Empty to keep the stored one. */
  value: string;
  /** Set if the value is stored in the keychain instead of the settings file. */
  secret: boolean;
  /** Reference to the stored value, which is never sent to the page. Falsy if none is stored. */
  stored: string | boolean | null;
}
export interface EnvRow extends NamedValueRow {
  /** Reference to the stored secret, which is never sent to the page. `null` if none is stored. */
  stored: string | null;
}
export interface HeaderRow extends NamedValueRow {
  /** Set if a value is stored. It is never sent to the page. */
  stored: boolean;
}

/** Protocol revisions that the user can select, latest first. */
export const PROTOCOL_REVISIONS = [
  "2026-07-28",
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
];

/** Matches names of headers whose values are credentials. */
const SECRET_NAMES = /authorization|cookie|key|password|secret|token/i;

export class ServerDraft {
  name = $state("");
  type = $state<ServerConfig["type"]>("stdio");
  /** Protocol revision that the user selected. Empty to negotiate it. */
  revision = $state("");

  command = $state("");
  cwd = $state("");
  args = $state<ArgRow[]>([]);
  env = $state<EnvRow[]>([]);
  sandbox = new SandboxDraft();

  url = $state("");
  /** Transport that the user selected. Empty to detect it. */
  kind = $state<HttpKind | "">("");
  headers = $state<HeaderRow[]>([]);
  auth = $state<AuthDraft>(authDraft(null));
  /** OAuth settings before the edit. */
  readonly #authBefore: AuthSettings | null = null;
  /** Filter of the tools that models may use. */
  tools = new ToolFilterDraft();
  /** Set if the server starts with Drawbridge, once its start is approved for all times. */
  autostart = $state(true);
  /** Set if the stored settings already say that the server does not start with Drawbridge. */
  readonly #isStoredByHand: boolean = false;
  #next = 1;

  constructor(name = "", config?: ServerConfig) {
    this.name = name;
    if (!config) return;
    this.type = config.type;
    this.revision = config.revision ?? "";
    this.tools = new ToolFilterDraft(config.tools);
    this.autostart = config.autostart ?? true;
    this.#isStoredByHand = config.autostart === false;
    if (config.type === "http") {
      this.url = config.url;
      this.kind = config.kind ?? "";
      this.auth = authDraft(config.auth);
      this.#authBefore = config.auth;
      for (const header of config.headers) this.#addHeader(header);
      return;
    }
    this.command = config.command;
    this.cwd = config.cwd ?? "";
    this.sandbox = new SandboxDraft(config.sandbox);
    for (const value of config.args) this.#addArg(value, value === "");
    const secret = config.secretEnv ?? [];
    for (const [key, value = ""] of Object.entries(config.env)) {
      if (secret.includes(key)) this.#addSecretEnv(key, value);
      else this.addEnv(key, value);
    }
  }

  addArg(value = ""): void {
    this.#addArg(value, false);
  }

  #addArg(value: string, isStoredEmpty: boolean): void {
    this.args.push({ id: this.#next++, value, isStoredEmpty });
  }

  removeArg(id: number): void {
    this.args = this.args.filter((row) => row.id !== id);
  }

  /** Moves an argument up (-1) or down (1). */
  moveArg(id: number, by: -1 | 1): void {
    const from = this.args.findIndex((row) => row.id === id);
    const to = from + by;
    const [a, b] = [this.args[from], this.args[to]];
    if (!a || !b) return;
    this.args[from] = b;
    this.args[to] = a;
  }

  addEnv(name = "", value = ""): void {
    this.env.push({ id: this.#next++, name, value, secret: false, stored: null });
  }

  /**
   * Adds a secret variable. A value with `${secret:NAME}` references a stored secret. Any other value is a new secret.
   */
  #addSecretEnv(name: string, value: string): void {
    const row = { id: this.#next++, name, secret: true };
    const isSet = value.includes("${secret:");
    this.env.push(isSet ? { ...row, value: "", stored: value } : { ...row, value, stored: null });
  }

  removeEnv(id: number): void {
    this.env = this.env.filter((row) => row.id !== id);
  }

  /** Adds an empty header, which is secret by default. */
  addHeader(): void {
    this.headers.push({ id: this.#next++, name: "", value: "", secret: true, stored: false });
  }

  #addHeader({ name, value, secret }: HttpHeader): void {
    this.headers.push({
      id: this.#next++,
      name,
      value: value ?? "",
      secret: secret || (value !== null && SECRET_NAMES.test(name)),
      stored: value === null,
    });
  }

  removeHeader(id: number): void {
    this.headers = this.headers.filter((row) => row.id !== id);
  }

  /** The arguments without empty rows at the end that the user did not fill in. */
  get #filledArgs(): ArgRow[] {
    const last = this.args.findLastIndex((row) => row.value !== "" || row.isStoredEmpty);
    return this.args.slice(0, last + 1);
  }

  get config(): ServerConfig {
    const revision = this.revision === "" ? null : this.revision;
    const tools = this.tools.wanted;
    // An omitted setting is kept by the host, so a change back to the default is sent.
    const isDefault = this.autostart && !this.#isStoredByHand;
    const rest = {
      ...(tools ? { tools } : {}),
      ...(isDefault ? {} : { autostart: this.autostart }),
    };
    if (this.type === "http") {
      const kind = this.kind === "" ? null : this.kind;
      const headers = this.headers.filter((row) => row.name.trim() !== "").map(headerOf);
      const auth = authSettingsFromDraft(this.auth, this.#authBefore);
      return { type: "http", url: this.url.trim(), headers, kind, auth, revision, ...rest };
    }
    const env = this.env.filter((row) => row.name.trim() !== "");
    const sandbox = this.sandbox.settings;
    const secretEnv = env.filter((row) => row.secret).map((row) => row.name.trim());
    return {
      type: "stdio",
      command: this.command.trim(),
      args: this.#filledArgs.map((row) => row.value),
      env: Object.fromEntries(env.map((row) => [row.name.trim(), row.value || (row.stored ?? "")])),
      ...(secretEnv.length > 0 ? { secretEnv } : {}),
      cwd: this.cwd.trim() === "" ? null : this.cwd.trim(),
      ...(sandbox ? { sandbox } : {}),
      revision,
      ...rest,
    };
  }

  /** Command line or URL, in the form that the consent request shows. */
  get commandLine(): string {
    const { config } = this;
    return config.type === "http" ? config.url : joinCommand([config.command, ...config.args]);
  }

  /** Set if neither a command nor a URL was entered. */
  get isEmpty(): boolean {
    return (this.type === "http" ? this.url : this.command).trim() === "";
  }
}

function headerOf({ name, value, secret, stored }: HeaderRow): HttpHeader {
  return { name: name.trim(), value: stored && value === "" ? null : value, secret };
}
