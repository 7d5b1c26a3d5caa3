// Failures of sign-ins: cause, remedy and buttons. The sign-in tab of a server shows them after a sign-in or a renewal
// that failed, and `SIGN_IN_ENDED` while an account has no usable token. That a server waits for a sign-in is a state
// (`WAITING_STATES` in `servers/failures.ts`).
import type { SignInFailure } from "$lib/api/generated";
import type { FailureTexts } from "$lib/failure-texts";

import { m } from "../paraglide/messages";

export type SignInAction = "sign_in" | "settings" | "headers" | "check" | "report";

export const SIGN_IN_ACTIONS: Record<SignInAction, () => string> = {
  sign_in: m.signin_sign_in_again,
  settings: m.signin_change_settings,
  headers: m.servers_change_headers,
  check: m.checkup_open,
  report: m.signin_copy_steps,
};

export const SIGN_IN_FAILURES: Record<SignInFailure, FailureTexts<SignInAction>> = {
  declined: {
    cause: m.signin_failure_declined,
    fix: m.signin_fix_declined,
    action: "sign_in",
  },
  cancelled: {
    cause: m.signin_failure_cancelled,
    fix: m.signin_fix_cancelled,
    action: "sign_in",
  },
  timed_out: {
    cause: m.signin_failure_timed_out,
    fix: m.signin_fix_timed_out,
    action: "sign_in",
  },
  unreachable: {
    cause: m.signin_failure_unreachable,
    fix: m.signin_fix_unreachable,
    action: "sign_in",
    others: ["check"],
  },
  bad_response: {
    cause: m.signin_failure_bad_response,
    fix: m.signin_fix_bad_response,
    action: "sign_in",
    others: ["report"],
  },
  unsafe_url: {
    cause: m.signin_failure_unsafe_url,
    fix: m.signin_fix_unsafe_url,
    action: "report",
  },
  resource_mismatch: {
    cause: m.signin_failure_resource_mismatch,
    fix: m.signin_fix_resource_mismatch,
    action: "report",
  },
  issuer_mismatch: {
    cause: m.signin_failure_issuer_mismatch,
    fix: m.signin_fix_issuer_mismatch,
    action: "report",
  },
  no_pkce: {
    cause: m.signin_failure_no_pkce,
    fix: m.signin_fix_no_pkce,
    action: "report",
  },
  no_authorization_server: {
    cause: m.signin_failure_no_authorization_server,
    fix: m.signin_fix_no_authorization_server,
    action: "headers",
  },
  no_client_id: {
    cause: m.signin_failure_no_client_id,
    fix: m.signin_fix_no_client_id,
    action: "settings",
    others: ["sign_in"],
  },
  other_issuer: {
    cause: m.signin_failure_other_issuer,
    fix: m.signin_fix_other_issuer,
    action: "settings",
    others: ["sign_in"],
  },
  refused: {
    cause: m.signin_failure_refused,
    fix: m.signin_fix_refused,
    action: "sign_in",
    others: ["report"],
  },
  browser: {
    cause: m.signin_failure_browser,
    fix: m.signin_fix_browser,
    action: "sign_in",
  },
  callback: {
    cause: m.signin_failure_callback,
    fix: m.signin_fix_callback,
    action: "sign_in",
  },
  too_many_requests: {
    cause: m.signin_failure_too_many_requests,
    fix: m.signin_fix_too_many_requests,
    action: "sign_in",
  },
  keychain_locked: {
    cause: m.signin_failure_keychain_locked,
    fix: m.signin_fix_keychain_locked,
    action: "sign_in",
    others: ["check"],
  },
  keychain_missing: {
    cause: m.signin_failure_keychain_missing,
    fix: m.signin_fix_keychain_missing,
    action: "check",
    others: ["sign_in"],
  },
  storage: {
    cause: m.signin_failure_storage,
    fix: m.signin_fix_storage,
    action: "sign_in",
    others: ["check"],
  },
  key: {
    cause: m.signin_failure_key,
    fix: m.signin_fix_key,
    action: "settings",
    others: ["sign_in"],
  },
  no_proof: {
    cause: m.signin_failure_no_proof,
    fix: m.signin_fix_no_proof,
    action: "settings",
    others: ["sign_in"],
  },
  unbound: {
    cause: m.signin_failure_unbound,
    fix: m.signin_fix_unbound,
    action: "settings",
    others: ["sign_in"],
  },
  not_approved: {
    cause: m.signin_failure_not_approved,
    fix: m.signin_fix_not_approved,
    action: "sign_in",
  },
  sign_in_needed: {
    cause: m.signin_failure_sign_in_needed,
    fix: m.signin_fix_sign_in_needed,
    action: "sign_in",
  },
  not_prepared: {
    cause: m.signin_failure_not_prepared,
    fix: m.signin_fix_not_prepared,
    action: "settings",
    others: ["sign_in"],
  },
};

/** Failure texts for a sign-in that expired or was revoked. */
export const SIGN_IN_ENDED: FailureTexts<SignInAction> = {
  cause: m.signin_ended,
  fix: m.signin_fix_ended,
  action: "sign_in",
};
