// Labels of the problems of a server draft.
import { m } from "../paraglide/messages";

import type { DraftProblem } from "./draft-problems";

export function draftProblemLabel(problem: DraftProblem): string {
  return {
    name_missing: m.servers_problem_name_missing,
    name_taken: m.servers_problem_name_taken,
    command_missing: m.servers_problem_command_missing,
    env_name: m.servers_problem_env_name,
    env_twice: m.servers_problem_env_twice,
    env_value: m.servers_problem_env_value,
    sandbox_path: m.servers_problem_sandbox_path,
    sandbox_no_host: m.servers_problem_sandbox_no_host,
    sandbox_host: m.servers_problem_sandbox_host,
    tools_enabled_long: m.servers_problem_tools_long,
    tools_disabled_long: m.servers_problem_tools_long,
    url_missing: m.servers_problem_url_missing,
    url_bad: m.servers_problem_url_bad,
    header_name: m.servers_problem_header_name,
    header_twice: m.servers_problem_header_twice,
    header_value: m.servers_problem_header_value,
    auth_client_id: m.signin_problem_client_id,
    auth_issuer: m.signin_problem_issuer,
    auth_port: m.signin_problem_port,
  }[problem]();
}

/** Returns the label of the first problem in `which` that the draft has, or `null` if it has none of them. */
export function firstProblemLabel(
  problems: DraftProblem[],
  ...which: DraftProblem[]
): string | null {
  const found = problems.find((problem) => which.includes(problem));
  return found ? draftProblemLabel(found) : null;
}
