// A server's command while it is being written.
import type { ServerConfig } from "$lib/api/generated";
import { joinCommand } from "$lib/format/command-line";

interface Row {
  id: number;
}
export interface ArgRow extends Row {
  value: string;
}
export interface EnvRow extends Row {
  key: string;
  value: string;
}

export type DraftProblem =
  "name_missing" | "name_taken" | "command_missing" | "env_name" | "env_twice";

export class Draft {
  name = $state("");
  command = $state("");
  cwd = $state("");
  args = $state<ArgRow[]>([]);
  env = $state<EnvRow[]>([]);
  #next = 1;

  constructor(name = "", config?: ServerConfig) {
    this.name = name;
    if (!config) return;
    this.command = config.command;
    this.cwd = config.cwd ?? "";
    for (const value of config.args) this.addArg(value);
    for (const [key, value] of Object.entries(config.env)) this.addEnv(key, value ?? "");
  }

  addArg(value = ""): void {
    this.args.push({ id: this.#next++, value });
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

  addEnv(key = "", value = ""): void {
    this.env.push({ id: this.#next++, key, value });
  }

  removeEnv(id: number): void {
    this.env = this.env.filter((row) => row.id !== id);
  }

  get config(): ServerConfig {
    const env = this.env.filter((row) => row.key.trim() !== "");
    return {
      command: this.command.trim(),
      args: this.args.map((row) => row.value),
      env: Object.fromEntries(env.map((row) => [row.key.trim(), row.value])),
      cwd: this.cwd.trim() === "" ? null : this.cwd.trim(),
    };
  }

  /** As it will be asked for, on one line. */
  get commandLine(): string {
    const { command, args } = this.config;
    return joinCommand([command, ...args]);
  }

  /** What keeps it from being saved. `taken` are the names of the other servers. */
  problems(taken: string[]): DraftProblem[] {
    const found: DraftProblem[] = [];
    const name = this.name.trim();
    if (name === "") found.push("name_missing");
    else if (taken.includes(name)) found.push("name_taken");
    if (this.command.trim() === "") found.push("command_missing");
    const keys = this.env.map((row) => row.key.trim());
    const used = keys.filter((key) => key !== "");
    if (used.some((key) => /[=\s\0]/.test(key))) found.push("env_name");
    if (this.env.some((row) => row.key.trim() === "" && row.value !== "")) found.push("env_name");
    if (new Set(used).size < used.length) found.push("env_twice");
    return [...new Set(found)];
  }
}
