// Hints for a program that was not found, the same as those of the host (`crates/process/src/programs/search_path.rs`).
import { m } from "../paraglide/messages";

const ORIGINS: [string[], string, string][] = [
  [["npx", "npm", "node"], "Node.js", "nodejs.org"],
  [["uvx", "uv"], "uv", "docs.astral.sh/uv"],
  [["python", "python3", "pip", "pipx"], "Python", "python.org"],
  [["docker"], "Docker", "docs.docker.com"],
  [["podman"], "Podman", "podman.io"],
  [["bun", "bunx"], "Bun", "bun.sh"],
  [["deno"], "Deno", "deno.com"],
  [["go"], "Go", "go.dev"],
  [["cargo"], "Rust", "rustup.rs"],
  [["dotnet", "dnx"], ".NET", "dot.net"],
  [["java"], "Java", "adoptium.net"],
];

/** Returns the hint for a command that can't be the name of a program, or `null` if it can. */
export function commandHint(command: string): string | null {
  if (command.startsWith("~")) return m.servers_hint_tilde();
  // The path of a program may contain spaces.
  return /^[^\s/\\]+\s/.test(command) ? m.servers_hint_space() : null;
}

/** Returns the hint for a program, or `null` if there is none. */
export function programHint(command: string): string | null {
  if (command.startsWith("~")) return m.servers_hint_tilde();
  const name = command.replace(/\.(exe|cmd|bat)$/i, "");
  const found = ORIGINS.find(([names]) => names.includes(name));
  if (found) return m.servers_hint_comes_with({ product: found[1], site: found[2] });
  return command.includes(" ") ? m.servers_hint_space() : null;
}
