// Installation hints for well-known programs that were not found.
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
];

/** Returns the installation hint for a program, or `null` if the program is unknown. */
export function programHint(command: string): string | null {
  if (command.startsWith("~")) return m.servers_hint_tilde();
  const found = ORIGINS.find(([names]) => names.includes(command));
  return found ? m.servers_hint_comes_with({ product: found[1], site: found[2] }) : null;
}
