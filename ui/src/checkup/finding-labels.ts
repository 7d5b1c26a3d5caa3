// Labels of findings.
import type { CheckId, FindingState } from "$lib/api/generated";

import { m } from "../paraglide/messages";

const TITLES: Record<CheckId, () => string> = {
  settings: m.checkup_settings,
  keychain: m.checkup_keychain,
  search_path: m.checkup_search_path,
  node: () => "Node.js",
  python: () => "Python",
  uv: () => "uv",
  docker: () => "Docker",
  podman: () => "Podman",
  dotnet: () => ".NET",
  programs: m.checkup_programs,
  sandbox: m.checkup_sandbox,
  proxy: m.checkup_proxy,
  certificates: m.checkup_certificates,
  web_view: m.checkup_web_view,
  data_folder: m.checkup_data_folder,
  config_folder: m.checkup_config_folder,
  cache_folder: m.checkup_cache_folder,
  clock: m.checkup_clock,
};

/** Returns the translated title of the check that led to a finding. */
export function checkTitle(id: CheckId): string {
  return TITLES[id]();
}

const STATES: Record<FindingState, () => string> = {
  problem: m.checkup_state_problem,
  warning: m.checkup_state_warning,
  unknown: m.checkup_state_unknown,
  ok: m.checkup_state_ok,
};

/** Returns the translated label of a finding's state, such as that the check passed. */
export function findingStateLabel(state: FindingState): string {
  return STATES[state]();
}
