// Labels for authorization settings and endpoints.
import type { AuthField, EndpointUse } from "$lib/api/generated";

import { m } from "../paraglide/messages";
import { displayName } from "./consent-labels";

export function authFieldLabel(field: AuthField): string {
  const words: Record<AuthField, () => string> = {
    grant: m.consent_auth_grant,
    issuer: m.consent_auth_issuer,
    client_id: m.consent_auth_client_id,
    client_auth: m.consent_auth_client_auth,
    client_secret: m.consent_auth_client_secret,
    private_key: m.consent_auth_private_key,
    algorithm: m.consent_auth_algorithm,
    client_metadata_url: m.consent_auth_client_metadata_url,
    redirect_port: m.consent_auth_redirect_port,
    scopes: m.consent_auth_scopes,
    dpop: m.consent_auth_dpop,
    assertion: m.consent_auth_assertion,
    provider_issuer: m.consent_auth_provider_issuer,
    provider_token_endpoint: m.consent_auth_provider_token_endpoint,
    provider_client_id: m.consent_auth_provider_client_id,
    provider_client_auth: m.consent_auth_provider_client_auth,
    provider_client_secret: m.consent_auth_provider_client_secret,
    provider_private_key: m.consent_auth_provider_private_key,
    provider_algorithm: m.consent_auth_provider_algorithm,
    provider_id_token: m.consent_auth_provider_id_token,
  };
  return words[field]();
}

/** Returns the translated label of an OAuth grant type. Unknown grant types are returned unchanged. */
export function grantLabel(grant: string): string {
  const words: Record<string, () => string> = {
    authorization_code: m.consent_grant_authorization_code,
    client_credentials: m.consent_grant_client_credentials,
    enterprise_managed: m.consent_grant_enterprise_managed,
    workload_identity: m.consent_grant_workload_identity,
  };
  return (Object.hasOwn(words, grant) ? words[grant]?.() : undefined) ?? displayName(grant);
}

export function endpointLabel(purpose: EndpointUse): string {
  return {
    token: m.consent_endpoint_token,
    provider: m.consent_endpoint_provider,
    registration: m.consent_endpoint_registration,
    revocation: m.consent_endpoint_revocation,
  }[purpose]();
}
