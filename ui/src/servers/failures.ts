// Failures of servers and their sandboxes: cause, remedy and buttons. A server's overview and the tabs that need a
// ready server show them while it has failed, ended, dropped or waits for a sign-in. The limits tab and a consent
// request show those of a sandbox. What failed in a sign-in itself is in `sign-in/failures.ts`.
import type { FailureReason, ProposalRefusal, SandboxProblem } from "$lib/api/generated";
import type { FailureTexts } from "$lib/failure-texts";

import { m } from "../paraglide/messages";

export type ServerAction =
  | "start"
  | "retry"
  | "sign_in"
  | "command"
  | "environment"
  | "sandbox"
  | "address"
  | "headers"
  | "limits"
  | "rules"
  | "check";

export const SERVER_ACTIONS: Record<ServerAction, () => string> = {
  start: m.servers_start_again,
  retry: m.servers_retry_now,
  sign_in: m.signin_sign_in,
  command: m.servers_change_command,
  environment: m.servers_change_env,
  sandbox: m.servers_change_sandbox,
  address: m.servers_change_address,
  headers: m.servers_change_headers,
  limits: m.servers_change_limits,
  rules: m.tools_open_rules,
  check: m.checkup_open,
};

export type ServerFailure = FailureTexts<ServerAction>;

/** Failure reasons that only remote servers have. */
type OnlyRemote = "unreachable" | "unauthorized";
/** Failure reasons that only local servers have. */
type OnlyLocal = "command_not_found" | "exited_early" | "limit_reached";

/** Failure of a server that was approved and not started. A refusal by the user is not shown as a failure. */
const REFUSED: ServerFailure = {
  cause: m.servers_failed_refused,
  fix: m.servers_hint_refused,
  action: "start",
};

export const LOCAL_FAILURES: Record<Exclude<FailureReason, OnlyRemote>, ServerFailure> = {
  command_not_found: {
    cause: m.servers_failed_command_not_found,
    fix: m.servers_hint_command_not_found,
    action: "command",
    others: ["start"],
  },
  could_not_start: {
    cause: m.servers_failed_could_not_start,
    fix: m.servers_hint_could_not_start,
    action: "command",
    others: ["start"],
  },
  exited_early: {
    cause: m.servers_failed_exited_early,
    fix: m.servers_hint_exited_early,
    action: "command",
    others: ["start"],
  },
  exited: {
    cause: m.servers_failed_exited,
    fix: m.servers_hint_exited,
    action: "start",
  },
  no_answer: {
    cause: m.servers_failed_no_answer,
    fix: m.servers_hint_no_answer,
    action: "start",
  },
  unresponsive: {
    cause: m.servers_failed_unresponsive,
    fix: m.servers_hint_unresponsive,
    action: "start",
  },
  protocol: {
    cause: m.servers_failed_protocol,
    fix: m.servers_hint_protocol_local,
    action: "command",
    others: ["start"],
  },
  refused: REFUSED,
  no_secret: {
    cause: m.servers_failed_no_secret,
    fix: m.servers_hint_no_secret,
    action: "environment",
    others: ["start"],
  },
  limit_reached: {
    cause: m.servers_failed_limit_reached,
    fix: m.servers_hint_limit_reached,
    action: "limits",
    others: ["start"],
  },
};

export const REMOTE_FAILURES: Record<Exclude<FailureReason, OnlyLocal>, ServerFailure> = {
  could_not_start: {
    cause: m.servers_failed_bad_settings,
    fix: m.servers_hint_bad_settings,
    action: "address",
    others: ["start"],
  },
  exited: {
    cause: m.servers_failed_exited,
    fix: m.servers_hint_exited_remote,
    action: "start",
  },
  no_answer: {
    cause: m.servers_failed_no_answer,
    fix: m.servers_hint_no_answer_remote,
    action: "address",
    others: ["start"],
  },
  unresponsive: {
    cause: m.servers_failed_unresponsive,
    fix: m.servers_hint_unresponsive_remote,
    action: "start",
  },
  protocol: {
    cause: m.servers_failed_protocol,
    fix: m.servers_hint_protocol,
    action: "address",
    others: ["start"],
  },
  refused: REFUSED,
  unreachable: {
    cause: m.servers_failed_unreachable,
    fix: m.servers_hint_unreachable,
    action: "address",
    others: ["start"],
  },
  unauthorized: {
    cause: m.servers_failed_unauthorized,
    fix: m.servers_hint_unauthorized,
    action: "headers",
    others: ["start"],
  },
  no_secret: {
    cause: m.servers_failed_no_secret,
    fix: m.servers_hint_no_secret,
    action: "headers",
    others: ["start"],
  },
};

/** Failure of a server whose start a rule denies. */
export const DENIED_BY_RULE: ServerFailure = {
  cause: m.servers_failed_denied_by_rule,
  fix: m.servers_hint_denied_by_rule,
  action: "rules",
  others: ["start"],
};

/** Failure of a local server that exited without output. */
export const SILENT_EXIT_FAILURE: ServerFailure = {
  ...LOCAL_FAILURES.exited_early,
  fix: m.servers_hint_exited_silent,
};

/** Returns the failure for a reason. `remote` is set for a server with a URL. */
export function serverFailure(reason: FailureReason, remote: boolean): ServerFailure {
  const all: Record<FailureReason, ServerFailure> = remote
    ? { ...LOCAL_FAILURES, ...REMOTE_FAILURES }
    : { ...REMOTE_FAILURES, ...LOCAL_FAILURES };
  return all[reason];
}

/** States besides `failed` in which a server can't be used, with their remedies. */
export const WAITING_STATES = {
  ended: {
    cause: m.servers_ended,
    fix: m.servers_hint_ended,
    action: "retry",
  },
  dropped: {
    cause: m.servers_dropped,
    fix: m.servers_hint_dropped,
    action: "retry",
  },
  sign_in: {
    cause: m.signin_needed,
    fix: m.signin_needed_text,
    action: "sign_in",
  },
} satisfies Record<string, ServerFailure>;

export const SANDBOX_FAILURES: Record<SandboxProblem, ServerFailure> = {
  not_whole: {
    cause: m.servers_sandbox_problem_not_whole,
    fix: m.servers_sandbox_fix_not_whole,
    action: "sandbox",
  },
  no_folder: {
    cause: m.servers_sandbox_problem_no_folder,
    fix: m.servers_sandbox_fix_no_folder,
    action: "sandbox",
  },
  leads: {
    cause: m.servers_sandbox_problem_leads,
    fix: m.servers_sandbox_fix_leads,
    action: "sandbox",
  },
  contradiction: {
    cause: m.servers_sandbox_problem_contradiction,
    fix: m.servers_sandbox_fix_contradiction,
    action: "sandbox",
  },
  exposes: {
    cause: m.servers_sandbox_problem_exposes,
    fix: m.servers_sandbox_fix_exposes,
    action: "sandbox",
  },
  changed: {
    cause: m.servers_sandbox_problem_changed,
    fix: m.servers_sandbox_fix_changed,
    action: "start",
  },
  out_of_reach: {
    cause: m.servers_sandbox_problem_out_of_reach,
    fix: m.servers_sandbox_fix_out_of_reach,
    action: "sandbox",
  },
  not_here: {
    cause: m.servers_sandbox_problem_not_here,
    fix: m.servers_sandbox_fix_not_here,
    action: "check",
    others: ["sandbox"],
  },
  hosts: {
    cause: m.servers_sandbox_problem_hosts,
    fix: m.servers_sandbox_fix_hosts,
    action: "sandbox",
  },
  no_hosts: {
    cause: m.servers_sandbox_problem_no_hosts,
    fix: m.servers_sandbox_fix_no_hosts,
    action: "sandbox",
  },
  no_home: {
    cause: m.servers_sandbox_problem_no_home,
    fix: m.servers_sandbox_fix_no_home,
    action: "check",
  },
};

/** Failures for blocked paths for which the app proposes no folder. */
export const BLOCKED_PATH_FAILURES: Record<ProposalRefusal, ServerFailure> = {
  secrets: {
    cause: m.servers_blocked_secrets,
    fix: m.servers_blocked_fix_secrets,
    action: "environment",
    others: ["sandbox"],
  },
  too_broad: {
    cause: m.servers_blocked_too_broad,
    fix: m.servers_blocked_fix_too_broad,
    action: "sandbox",
  },
  system: {
    cause: m.servers_blocked_system,
    fix: m.servers_blocked_fix_system,
    action: "sandbox",
  },
  own: {
    cause: m.servers_blocked_own,
    fix: m.servers_blocked_fix_own,
    action: "command",
    others: ["sandbox"],
  },
  name: {
    cause: m.servers_blocked_name,
    fix: m.servers_blocked_fix_name,
    action: "sandbox",
  },
};

/** Failure for a blocked path for which the app proposes a folder. The button adds the folder to the sandbox. */
export const PROPOSED_FOLDER_FAILURE = {
  cause: m.servers_blocked_title,
  fix: m.servers_blocked_asks,
  buttonLabel: m.servers_blocked_add,
};
