// Certified authorization server (oidc-provider) with login and consent pages, and an MCP server that accepts its
// tokens. Prints one line of JSON, `{"issuer": URL, "server": URL}`, and exits when its input ends. The MCP server
// has one tool, `whoami`.
//
// `GET /test/events` at the MCP server lists the events. `POST /test/end-access` makes it reject every access token
// issued so far, as if they had expired.

import { createServer } from "node:http";

import { Provider } from "oidc-provider";

const SCOPES = "harbour:read harbour:write";

/** Recorded events in order: grant types of issued tokens, and revocations. */
const events = [];
/** Access tokens that the MCP server rejects. */
const ended = new Set();
const issued = new Set();

function listening(server) {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${server.address().port}`));
  });
}

let answerAsIssuer = (request, response) => response.writeHead(503).end();
const issuerServer = createServer((request, response) => answerAsIssuer(request, response));
const mcpServer = createServer((request, response) => {
  answerAsMcp(request, response).catch((error) => response.writeHead(500).end(String(error)));
});
const issuer = await listening(issuerServer);
const origin = await listening(mcpServer);
const resource = `${origin}/mcp`;

const provider = new Provider(issuer, {
  scopes: ["openid", "offline_access"],
  cookies: { keys: [crypto.randomUUID()] },
  features: {
    devInteractions: { enabled: true },
    registration: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_context, indicator) => {
        if (indicator !== resource) throw new Error(`unknown resource ${indicator}`);
        return { scope: SCOPES, accessTokenFormat: "opaque", accessTokenTTL: 3600 };
      },
    },
  },
  issueRefreshToken: (_context, client) => client.grantTypeAllowed("refresh_token"),
  rotateRefreshToken: true,
});
provider.on("grant.success", (context) => {
  const { params, client } = context.oidc;
  events.push({ grant: params.grant_type, resource: params.resource, client: client.clientId });
});
provider.on("grant.error", (context, error) => events.push({ failed: String(error.error_description ?? error) }));
provider.on("access_token.saved", (token) => issued.add(token.jti));
provider.on("access_token.destroyed", () => events.push({ revoked: "access_token" }));
provider.on("refresh_token.destroyed", () => events.push({ revoked: "refresh_token" }));
provider.on("registration_create.success", (_context, client) => {
  events.push({ registered: client.clientId, redirects: client.redirectUris, type: client.applicationType });
});
answerAsIssuer = provider.callback();

function body(request) {
  return new Promise((resolve) => {
    let text = "";
    request.on("data", (chunk) => (text += chunk));
    request.on("end", () => resolve(text));
  });
}

function json(response, value, status = 200) {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

async function answerAsMcp(request, response) {
  switch (`${request.method} ${request.url}`) {
    case "GET /.well-known/oauth-protected-resource/mcp":
      return json(response, {
        resource,
        authorization_servers: [issuer],
        scopes_supported: SCOPES.split(" "),
      });
    case "GET /test/events":
      return json(response, events);
    case "POST /test/end-access":
      for (const token of issued) ended.add(token);
      return json(response, {});
    case "POST /mcp":
      break;
    default:
      return response.writeHead(request.url === "/mcp" ? 405 : 404).end();
  }
  const presented = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
  const token = presented && (await provider.AccessToken.find(presented));
  if (!token || token.aud !== resource || ended.has(token.jti)) {
    const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
    response.setHeader("www-authenticate", `Bearer resource_metadata="${metadata}"`);
    return response.writeHead(401).end();
  }
  const message = JSON.parse(await body(request));
  if (message.id === undefined) return response.writeHead(202).end();
  const result = results(message, token);
  const error = { code: -32601, message: "no such method" };
  const answer = { jsonrpc: "2.0", id: message.id, ...(result ? { result } : { error }) };
  json(response, answer, result ? 200 : 400);
}

function results({ method, params }, token) {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "harbour", version: "1" },
      };
    case "ping":
      return {};
    case "tools/list":
      return { tools: [{ name: "whoami", inputSchema: { type: "object" } }] };
    case "tools/call":
      if (params.name !== "whoami") return undefined;
      return { content: [{ type: "text", text: `You are ${token.accountId}, with ${token.scope}.` }] };
    default:
      return undefined;
  }
}

console.log(JSON.stringify({ issuer, server: resource }));
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
