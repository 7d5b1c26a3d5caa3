// Form data of a server's OAuth settings.
import type { AuthSettings } from "$lib/api/generated";

export interface AuthDraft {
  clientId: string;
  /** New client secret. Empty to keep the stored one. */
  clientSecret: string;
  /** Set if a client secret is stored. Its value is never sent to the page. */
  hasStoredSecret: boolean;
  issuer: string;
  /** Requested scopes, separated by spaces. */
  scopes: string;
  /** Port of the redirect URI. Empty for any free port. */
  redirectPort: string;
}

export function authDraft(settings: AuthSettings | null): AuthDraft {
  return {
    clientId: settings?.clientId ?? "",
    clientSecret: settings?.clientSecret ?? "",
    hasStoredSecret: settings?.hasSecret === true && settings.clientSecret === null,
    issuer: settings?.issuer ?? "",
    scopes: settings?.scopes.join(" ") ?? "",
    redirectPort: settings?.redirectPort?.toString() ?? "",
  };
}

/** Returns the settings to send. `null` if all fields are empty and no settings existed before. */
export function authSettingsFromDraft(
  draft: AuthDraft,
  before: AuthSettings | null,
): AuthSettings | null {
  const text = (value: string) => (value.trim() === "" ? null : value.trim());
  const scopes = draft.scopes.split(/\s+/).filter((scope) => scope !== "");
  const settings: AuthSettings = {
    clientId: text(draft.clientId),
    clientSecret: draft.clientSecret === "" ? null : draft.clientSecret,
    hasSecret: draft.hasStoredSecret || draft.clientSecret !== "",
    issuer: text(draft.issuer),
    scopes,
    redirectPort: enteredPort(draft),
    secretNames: before?.secretNames ?? [],
    rest: before?.rest ?? null,
  };
  const { clientId, hasSecret, issuer, redirectPort } = settings;
  const empty =
    clientId === null &&
    !hasSecret &&
    issuer === null &&
    scopes.length === 0 &&
    redirectPort === null;
  return empty && before === null ? null : settings;
}

/** Returns the entered port, or `null` if it is empty or invalid. */
function enteredPort(draft: AuthDraft): number | null {
  const text = draft.redirectPort.trim();
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= 65_535 ? number : null;
}

/** Returns the redirect URI to register for the client ID, or `null` if no port was entered. */
export function redirectUri(draft: AuthDraft): string | null {
  const chosen = enteredPort(draft);
  return chosen === null ? null : `http://127.0.0.1:${chosen}/callback`;
}

export type AuthProblem = "auth_client_id" | "auth_issuer" | "auth_port";

export function authProblems(draft: AuthDraft): AuthProblem[] {
  const found: AuthProblem[] = [];
  const secret = draft.hasStoredSecret || draft.clientSecret !== "";
  if (secret && draft.clientId.trim() === "") found.push("auth_client_id");
  const issuer = draft.issuer.trim();
  if (issuer !== "" && (!/^https?:\/\/[^/]/i.test(issuer) || !URL.canParse(issuer)))
    found.push("auth_issuer");
  if (draft.redirectPort.trim() !== "" && enteredPort(draft) === null) found.push("auth_port");
  return found;
}
