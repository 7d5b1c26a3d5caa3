// Fixtures for sign-ins.
import type {
  Account,
  Authorization,
  SignInProgress,
  SignInStep,
  UrlParts,
} from "$lib/api/generated";

const plain = { asciiHost: null, warnings: [], openable: true };

export const serverUrl: UrlParts = {
  ...{ url: "https://mcp.harbour.example/mcp", before: "https://mcp.", domain: "harbour.example" },
  ...{ after: "/mcp", ...plain },
};

export const issuerUrl: UrlParts = {
  ...{ url: "https://login.idp.example/7", before: "https://login.", domain: "idp.example" },
  ...{ after: "/7", ...plain },
};

export const authorizationUrl: UrlParts = {
  ...{ url: "https://login.idp.example/7/authorize?scope=openid", before: "https://login." },
  ...{ domain: "idp.example", after: "/7/authorize?scope=openid", ...plain },
};

export function sampleAccount(changes: Partial<Account> = {}): Account {
  return {
    issuer: issuerUrl.url,
    issuerUrl,
    resource: serverUrl.url,
    scopes: ["openid", "ships:read"],
    expiresAt: Date.now() + 3_600_000,
    signedInAt: Date.now() - 86_400_000,
    refreshedAt: Date.now() - 600_000,
    canRefresh: true,
    reauthenticationReason: null,
    client: "registered",
    isDpopBound: false,
    ...changes,
  };
}

export function signInProgress(changes: Partial<SignInProgress> = {}): SignInProgress {
  return {
    phase: "discovering",
    reason: { is: "sign_in" },
    since: Date.now(),
    endsAt: null,
    authorizationUrl: null,
    redirectUri: null,
    browserProblem: null,
    ...changes,
  };
}

export const discoveryStep: SignInStep = {
  at: 1_785_000_000_000,
  durationMilliseconds: 84,
  purpose: "finding the authorization server",
  request: "GET https://mcp.harbour.example/.well-known/oauth-protected-resource/mcp",
  response: '200\n\n{"authorization_servers":["https://login.idp.example/7"]}',
  conclusion: "The server trusts https://login.idp.example/7.",
  failed: false,
};

export const refusedStep: SignInStep = {
  at: 1_785_000_001_000,
  durationMilliseconds: 97,
  purpose: "getting the token",
  request: "POST https://login.idp.example/7/token\n\ncode=[redacted]&code_verifier=[redacted]",
  response: '400\n\n{"error":"invalid_grant"}',
  conclusion: "The authorization server refused: invalid_grant.",
  failed: true,
};

export function sampleAuthorization(changes: Partial<Authorization> = {}): Authorization {
  return {
    ...{ server: "files", unsupportedReason: null, account: null, inProgress: null },
    failureMessage: null,
    ...{ failure: null, steps: [], tokenStorage: null },
    ...changes,
  };
}
