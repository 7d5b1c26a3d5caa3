// What is wrong with a draft, in words.
import { m } from "../paraglide/messages";

import type { DraftProblem } from "./draft.svelte";

export function draftProblem(problem: DraftProblem): string {
  return {
    name_missing: m.servers_problem_name_missing,
    name_taken: m.servers_problem_name_taken,
    command_missing: m.servers_problem_command_missing,
    env_name: m.servers_problem_env_name,
    env_twice: m.servers_problem_env_twice,
  }[problem]();
}
