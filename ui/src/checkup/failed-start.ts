// Selects the checks that may explain why a server did not start.
import type { CheckId, FailureReason, Finding, ServerConfig } from "$lib/api/generated";

import type { CheckSubject } from "./checkup.svelte";

const RUNTIMES: Readonly<Record<string, CheckId>> = {
  ...{ node: "node", npx: "node", npm: "node", pnpm: "node", yarn: "node" },
  ...{ python: "python", python3: "python", uv: "uv", uvx: "uv" },
  ...{ docker: "docker", podman: "podman", dotnet: "dotnet", dnx: "dotnet" },
};
/** Launchers that download a package before they run it. A proxy or certificate problem may prevent the download. */
const LOADERS = new Set([
  ...["npx", "npm", "pnpm", "yarn", "bun", "bunx", "deno", "uv", "uvx", "pipx", "dnx"],
  ...["docker", "nerdctl", "podman"],
]);

/** Returns the name of a program without its folder and extension. */
function programName(command: string): string {
  const name = command.split(/[/\\]/).at(-1) ?? command;
  return name.replace(/\.(exe|cmd|bat)$/i, "").toLowerCase();
}

/**
 * Returns the checks that may explain a failed start, the most likely first. Empty if the cause is not on this
 * computer.
 */
export function checksForFailure(reason: FailureReason, config: ServerConfig): readonly CheckId[] {
  if (reason === "no_secret") return ["keychain"];
  if (config.type === "http") {
    const onTheWay: readonly FailureReason[] = [
      "unreachable",
      "protocol",
      "no_answer",
      "unresponsive",
    ];
    return onTheWay.includes(reason) ? ["proxy", "certificates", "clock"] : [];
  }
  const program = programName(config.command);
  const runtime = Object.hasOwn(RUNTIMES, program) ? RUNTIMES[program] : undefined;
  const sandbox: CheckId[] = config.sandbox ? ["sandbox"] : [];
  const network: CheckId[] = LOADERS.has(program) ? ["proxy", "certificates"] : [];
  switch (reason) {
    case "command_not_found":
      return [runtime ?? "programs", "search_path"];
    case "could_not_start":
      return [...sandbox, runtime ?? "programs", "search_path"];
    case "exited_early":
    case "no_answer":
    case "unreachable":
      return [...(runtime ? [runtime] : []), ...sandbox, ...network];
    default:
      return [];
  }
}

const SEVERITY = { problem: 0, warning: 1, unknown: 2, ok: 3 };

/** Returns the findings sorted by severity, most severe first. Findings of equal severity keep their order. */
export function sortBySeverity(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((a, b) => SEVERITY[a.state] - SEVERITY[b.state]);
}

/**
 * Returns `true` if a finding is about the server: its failure selects the check, or the finding names the server.
 */
export function isFindingAbout(finding: Finding, about: CheckSubject): boolean {
  const isNamed = finding.state !== "ok" && finding.servers.includes(about.server);
  return isNamed || about.checks.includes(finding.id);
}
