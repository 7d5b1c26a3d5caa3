// Labels of sign-ins.
import type { ClientIdentity, SignOutOutcome, SignInPhase } from "$lib/api/generated";
import { visibleText } from "$lib/format/text-safety";

import { m } from "../paraglide/messages";

export function signInPhaseLabel(phase: SignInPhase): string {
  return {
    discovering: m.signin_phase_discovery,
    awaiting_consent: m.signin_phase_consent,
    awaiting_browser: m.signin_phase_browser,
    exchanging: m.signin_phase_exchanging,
  }[phase]();
}

/** Returns the label of the method by which Drawbridge is registered as a client of an authorization server. */
export function registrationMethodLabel(client: ClientIdentity): string {
  return {
    configured: m.signin_client_configured,
    metadata_document: m.signin_client_metadata_document,
    registered: m.signin_client_registered,
    entered: m.signin_client_entered,
  }[client]();
}

/**
 * Returns the description of a standard scope (OpenID Connect Core 1.0, sections 5.4 and 11), or `null` for other
 * scopes.
 */
export function standardScopeLabel(scope: string): string | null {
  const known: Record<string, () => string> = {
    openid: m.signin_scope_openid,
    profile: m.signin_scope_profile,
    email: m.signin_scope_email,
    address: m.signin_scope_address,
    phone: m.signin_scope_phone,
    offline_access: m.signin_scope_offline_access,
  };
  return Object.hasOwn(known, scope) ? (known[scope]?.() ?? null) : null;
}

/** Returns a text about the outcome of a sign-out. `issuer` is the issuer of the tokens. */
export function signOutOutcomeLabel(done: SignOutOutcome, issuer: string): string {
  const host = visibleText(issuer);
  switch (done.revoked) {
    case "yes":
      return m.signin_signed_out_yes({ host });
    case "not_offered":
      return m.signin_signed_out_not_offered({ host });
    case "failed":
      return m.signin_signed_out_failed({ host });
    case "nobody_signed_in":
      return m.signin_signed_out_nobody();
  }
}
