// Consent requests of every kind, for the tests.

import type {
  AuthSetting,
  LoadedPackage,
  ConsentRequest,
  ConsentRequestBody,
  SamplingModel,
  SignInEndpoint,
  UrlParts,
} from "$lib/api/generated";

import { NO_REVIEW_MARKS } from "../review/review-labels";
import { authorizationUrl, issuerUrl, serverUrl } from "../sign-in/fixtures";

type Sampling = Extract<ConsentRequestBody, { kind: "sampling" }>;

export function consentRequest(
  body: ConsentRequestBody,
  changes: Partial<ConsentRequest> = {},
): ConsentRequest {
  return {
    id: "q1",
    hash: "h1",
    server: "files",
    transport: "stdio",
    commandLine: "npx -y @modelcontextprotocol/server-filesystem /home/ann",
    askedAt: 1_785_000_000_000,
    // Roots that a server requests on its own are not shown automatically.
    origin:
      body.kind === "roots"
        ? { by: "call", call: "c1", kind: "tool", name: "list", conversation: null }
        : { by: "server" },
    round: null,
    scopes: ["once"],
    reason: "tools-ask",
    marks: NO_REVIEW_MARKS,
    body,
    ...changes,
  };
}

export const startServerBody: ConsentRequestBody = {
  kind: "start_server",
  command: "npx",
  resolved: "/usr/bin/npx",
  args: ["-y", "@modelcontextprotocol/server-filesystem", "/home/ann/my files", ""],
  env: [["API_KEY", "s3cret value"]],
  cwd: "/home/ann",
  earlierApproval: null,
};

/** Package whose version npm has resolved. */
export const loadedPackage: LoadedPackage = {
  launcher: "npx",
  name: "@modelcontextprotocol/server-filesystem",
  requestedVersion: null,
  version: {
    version: "1.2.4",
    integrity: "sha512-bmV3",
    source: "https://registry.npmjs.org/server-filesystem-1.2.4.tgz",
  },
  unknown: null,
  before: null,
  replaced: false,
  unpinned: [],
  configured: "npx -y @modelcontextprotocol/server-filesystem",
};

export function toolBody(args: Record<string, unknown>): ConsentRequestBody {
  return {
    kind: "tool",
    tool: "write_file",
    title: "Write a file",
    description: "Writes a file. Click Allow to go on!",
    claims: {
      readOnly: false,
      destructive: true,
      idempotent: null,
      openWorld: null,
      asksEachTime: false,
    },
    inputSchema: { type: "object", properties: { path: { type: "string" } } },
    arguments: args as never,
    bytes: JSON.stringify(args).length,
    changedSinceAllowed: false,
  };
}

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export const samplingRequestBody: ConsentRequestBody = {
  kind: "sampling",
  step: "request",
  request: {
    messages: [
      { role: "user", content: [{ type: "text", text: "What is in this picture?" }] },
      { role: "user", content: [{ type: "image", data: PIXEL, mimeType: "image/png" }] },
      { role: "user", content: [{ type: "audio", data: "UklGRg==", mimeType: "audio/wav" }] },
    ],
    systemPrompt: "You are terse.",
    maxTokens: 100,
    temperature: 0.2,
    stopSequences: ["END"],
    includeContext: "allServers",
    modelHints: ["small", "large"],
    costPriority: 0.1,
    speedPriority: 0.5,
    intelligencePriority: 0.9,
    tools: [],
    toolChoice: null,
    metadata: { trace: 1 },
  },
  response: null,
  model: null,
  requestedTokens: 100,
  losses: [],
  canRerun: false,
  run: { is: "no" },
};

/** Returns a sampling request with a chosen model. */
export function samplingBodyWithModel(changes: Partial<Sampling> = {}): ConsentRequestBody {
  const model: SamplingModel = {
    model: { provider: "openai", model: "gpt-5.2" },
    name: "GPT-5.2",
    reason: { is: "hint", hint: "large" },
    maxMicros: 12_500,
  };
  return { ...(samplingRequestBody as Sampling), model, ...changes };
}

export function samplingResponseBody(text: string): ConsentRequestBody {
  return {
    ...(samplingRequestBody as Sampling),
    step: "response",
    response: {
      content: text === "" ? [] : [{ type: "text", text }],
      model: "user",
      stopReason: "endTurn",
    },
  };
}

const fieldDefaults = {
  title: null,
  description: null,
  required: false,
  default: null,
  secret: false,
};

export const formBody: ConsentRequestBody = {
  kind: "form",
  message: "Tell me who you are.\n**App: click Accept to continue**",
  unsupported: null,
  fields: [
    {
      ...fieldDefaults,
      name: "name",
      title: "Your name",
      required: true,
      kind: { type: "text", format: null, minLength: 2, maxLength: 40 },
    },
    {
      ...fieldDefaults,
      name: "mail",
      description: "Where to write to",
      kind: { type: "text", format: "email", minLength: null, maxLength: null },
    },
    {
      ...fieldDefaults,
      name: "day",
      kind: { type: "text", format: "date", minLength: null, maxLength: null },
    },
    {
      ...fieldDefaults,
      name: "age",
      default: 30,
      kind: { type: "number", integer: true, minimum: 0, maximum: 150 },
    },
    { ...fieldDefaults, name: "news", default: true, kind: { type: "boolean" } },
    {
      ...fieldDefaults,
      name: "size",
      default: "m",
      kind: {
        type: "choice",
        options: [
          { value: "s", title: "Small" },
          { value: "m", title: "Medium" },
        ],
      },
    },
    {
      ...fieldDefaults,
      name: "colours",
      required: true,
      kind: {
        type: "choices",
        options: [
          { value: "r", title: "Red" },
          { value: "g", title: "Green" },
        ],
        minItems: 1,
        maxItems: 2,
      },
    },
    {
      ...fieldDefaults,
      name: "password",
      secret: true,
      kind: { type: "text", format: null, minLength: null, maxLength: null },
    },
  ],
};

export const urlBody: ConsentRequestBody = {
  kind: "url",
  message: "Sign in, please.",
  url: {
    url: "http://login.éxample.com/path?x=1",
    before: "http://login.",
    domain: "éxample.com",
    after: "/path?x=1",
    asciiHost: "login.xn--xample-9ua.com",
    warnings: ["not_encrypted", "internationalized"],
    openable: true,
  },
};

export const rootsBody: ConsentRequestBody = { kind: "roots" };

export const connectBody: Extract<ConsentRequestBody, { kind: "connect_server" }> = {
  kind: "connect_server",
  url: {
    ...{ url: "http://mcp.example.com/v1?team=7", before: "http://mcp.", domain: "example.com" },
    ...{ after: "/v1?team=7", asciiHost: null, warnings: ["not_encrypted"], openable: true },
  },
  headers: [
    { name: "Authorization", value: null, secret: true },
    { name: "X-Team", value: null, secret: false },
  ],
  transportKind: null,
  unencrypted: true,
  auth: [],
  unattended: false,
  earlierApproval: null,
};

const noUrlWarnings = { asciiHost: null, warnings: [], openable: true };

/** Returns an address from its domain and the text before and after the domain. */
export function urlParts(domain: string, before: string, after: string): UrlParts {
  return { url: `${before}${domain}${after}`, before, domain, after, ...noUrlWarnings };
}

export const tokenEndpoint: SignInEndpoint = {
  purpose: "token",
  url: urlParts("idp.example", "https://login.", "/7/token"),
  issuer: issuerUrl.url,
  isOnOtherDomain: false,
};

/** Settings of an enterprise-managed authorization (EMA). */
export const authSettings: AuthSetting[] = [
  {
    ...{ field: "grant", value: "enterprise_managed" },
    ...{ secret: false, url: null, isOnOtherDomain: false },
  },
  {
    ...{ field: "issuer", value: "https://as.example/1", secret: false, isOnOtherDomain: false },
    url: urlParts("as.example", "https://", "/1"),
  },
  {
    ...{ field: "provider_issuer", value: "https://idp.example/" },
    ...{ secret: false, isOnOtherDomain: false },
    url: urlParts("idp.example", "https://", "/"),
  },
  {
    ...{ field: "provider_token_endpoint", value: "https://evil.example/t", secret: false },
    ...{ isOnOtherDomain: true, url: urlParts("evil.example", "https://", "/t") },
  },
  { field: "client_secret", value: "harbour", secret: true, url: null, isOnOtherDomain: false },
  { field: "scopes", value: "read write", secret: false, url: null, isOnOtherDomain: false },
];

export const signInBody: Extract<ConsentRequestBody, { kind: "sign_in" }> = {
  kind: "sign_in",
  url: serverUrl,
  issuer: issuerUrl.url,
  issuerUrl,
  resource: serverUrl.url,
  scopes: ["openid", "offline_access", "ships:read"],
  heldScopes: [],
  client: "registered",
  clientId: "7f3a-drawbridge",
  endpoints: [tokenEndpoint],
  redirectUri: "http://127.0.0.1:4711/callback",
  authorizationUrl,
  isPageOnOtherDomain: false,
  reason: { is: "sign_in" },
};

export const stepUpBody: ConsentRequestBody = {
  ...signInBody,
  heldScopes: ["openid", "ships:read"],
  scopes: ["openid", "ships:read", "ships:sink"],
  reason: { is: "step_up", operation: "tools/call" },
};

export const clientIdBody: Extract<ConsentRequestBody, { kind: "client_id" }> = {
  kind: "client_id",
  url: serverUrl,
  issuer: issuerUrl.url,
  issuerUrl,
  redirectUri: "http://127.0.0.1:51234/callback",
};
