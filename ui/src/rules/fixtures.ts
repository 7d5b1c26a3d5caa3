// Fixtures for rules.
import type { Policy, Rule } from "$lib/api/generated";

export const emptyPolicy: Policy = {
  preset: "balanced",
  managedPreset: "balanced",
  rules: [],
  user: {
    path: "/home/ann/.local/share/drawbridge/policy.json",
    exists: false,
    problem: null,
    changed: null,
  },
  managed: { path: "/etc/drawbridge/policy.json", exists: false, problem: null, changed: null },
};

export function sampleRule(changes: Partial<Rule> = {}): Rule {
  return {
    id: "1",
    source: "user",
    effect: "ask",
    server: "files",
    tool: null,
    direction: "to_server",
    arguments: [],
    annotations: null,
    scope: { kind: "always" },
    expiresAt: null,
    note: "",
    trustedServer: false,
    identity: null,
    afterUntrusted: false,
    ...changes,
  };
}
