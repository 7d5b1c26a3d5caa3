// How to sign in to a server that is being written.
import type { AuthSettings } from "$lib/api/generated";

export interface AuthDraft {
  clientId: string;
  /** Empty while the secret that is set already stays. */
  clientSecret: string;
  /** Whether a secret is set already, which is never told. */
  secretKept: boolean;
  issuer: string;
  /** Apart by spaces. */
  scopes: string;
  /** Empty for any port. */
  redirectPort: string;
}

export function authDraft(settings: AuthSettings | null): AuthDraft {
  return {
    clientId: settings?.clientId ?? "",
    clientSecret: settings?.clientSecret ?? "",
    secretKept: settings?.hasSecret === true && settings.clientSecret === null,
    issuer: settings?.issuer ?? "",
    scopes: settings?.scopes.join(" ") ?? "",
    redirectPort: settings?.redirectPort?.toString() ?? "",
  };
}

/** As it is sent. Without anything to say it is nothing, unless it revokes what was said before. */
export function authSettings(draft: AuthDraft, before: AuthSettings | null): AuthSettings | null {
  const text = (value: string) => (value.trim() === "" ? null : value.trim());
  const scopes = draft.scopes.split(/\s+/).filter((scope) => scope !== "");
  const settings: AuthSettings = {
    clientId: text(draft.clientId),
    clientSecret: draft.clientSecret === "" ? null : draft.clientSecret,
    hasSecret: draft.secretKept || draft.clientSecret !== "",
    issuer: text(draft.issuer),
    scopes,
    redirectPort: port(draft),
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

/** The port that was chosen; null if none was, or none that there is. */
function port(draft: AuthDraft): number | null {
  const text = draft.redirectPort.trim();
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= 65_535 ? number : null;
}

/** What has to be registered with the client id, if a port was chosen. */
export function redirectUri(draft: AuthDraft): string | null {
  const chosen = port(draft);
  return chosen === null ? null : `http://127.0.0.1:${chosen}/callback`;
}

export type AuthProblem = "auth_client_id" | "auth_issuer" | "auth_port";

export function authProblems(draft: AuthDraft): AuthProblem[] {
  const found: AuthProblem[] = [];
  const secret = draft.secretKept || draft.clientSecret !== "";
  if (secret && draft.clientId.trim() === "") found.push("auth_client_id");
  const issuer = draft.issuer.trim();
  if (issuer !== "" && (!/^https?:\/\/[^/]/i.test(issuer) || !URL.canParse(issuer)))
    found.push("auth_issuer");
  if (draft.redirectPort.trim() !== "" && port(draft) === null) found.push("auth_port");
  return found;
}
