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
}

export function authDraft(settings: AuthSettings | null): AuthDraft {
  return {
    clientId: settings?.clientId ?? "",
    clientSecret: settings?.clientSecret ?? "",
    secretKept: settings?.hasSecret === true && settings.clientSecret === null,
    issuer: settings?.issuer ?? "",
    scopes: settings?.scopes.join(" ") ?? "",
  };
}

/** As it is sent. Without anything to say it is nothing, unless it takes back what was said before. */
export function authSettings(draft: AuthDraft, before: AuthSettings | null): AuthSettings | null {
  const text = (value: string) => (value.trim() === "" ? null : value.trim());
  const scopes = draft.scopes.split(/\s+/).filter((scope) => scope !== "");
  const settings: AuthSettings = {
    clientId: text(draft.clientId),
    clientSecret: draft.clientSecret === "" ? null : draft.clientSecret,
    hasSecret: draft.secretKept || draft.clientSecret !== "",
    issuer: text(draft.issuer),
    scopes,
    rest: before?.rest ?? null,
  };
  const { clientId, hasSecret, issuer } = settings;
  const empty = clientId === null && !hasSecret && issuer === null && scopes.length === 0;
  return empty && before === null ? null : settings;
}

export type AuthProblem = "auth_client_id" | "auth_issuer";

export function authProblems(draft: AuthDraft): AuthProblem[] {
  const found: AuthProblem[] = [];
  const secret = draft.secretKept || draft.clientSecret !== "";
  if (secret && draft.clientId.trim() === "") found.push("auth_client_id");
  const issuer = draft.issuer.trim();
  if (issuer !== "" && (!/^https?:\/\/[^/]/i.test(issuer) || !URL.canParse(issuer)))
    found.push("auth_issuer");
  return found;
}
