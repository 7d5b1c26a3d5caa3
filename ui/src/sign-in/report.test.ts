import { expect, test } from "vitest";

import { sampleAccount, sampleAuthorization, discoveryStep, refusedStep } from "./fixtures";
import { signInReport } from "./report";

test("lists every step in order with requests, responses and the failure", () => {
  const failed = sampleAuthorization({
    failureMessage: "the token was refused",
    steps: [discoveryStep, refusedStep],
  });
  expect(signInReport(failed, "https://mcp.harbour.example/mcp", "0.1.0")).toBe(
    `Sign-in to https://mcp.harbour.example/mcp with Drawbridge 0.1.0
It failed: the token was refused
Secrets read [redacted].

## 1. finding the authorization server (2026-07-25T17:20:00.000Z, 84 ms)
> GET https://mcp.harbour.example/.well-known/oauth-protected-resource/mcp
< 200
<
< {"authorization_servers":["https://login.idp.example/7"]}
= The server trusts https://login.idp.example/7.

## 2. getting the token (2026-07-25T17:20:01.000Z, 97 ms)
> POST https://login.idp.example/7/token
>
> code=[redacted]&code_verifier=[redacted]
< 400
<
< {"error":"invalid_grant"}
FAILED The authorization server refused: invalid_grant.
`,
  );
});

const AT = "https://mcp.harbour.example/mcp";

test("omits keys in the URL of the server", () => {
  const at = "https://ann:pa55@mcp.harbour.example/mcp?api_key=SECRET#SECRET";
  const text = signInReport(sampleAuthorization({ steps: [discoveryStep] }), at, "1");
  expect(text, "the report should contain the URL").toContain(`Sign-in to ${AT} with`);
  expect(text, "the report should not contain keys").not.toMatch(/SECRET|pa55|api_key/);
  expect(
    signInReport(sampleAuthorization(), "no address", "1"),
    "an invalid URL should be omitted",
  ).not.toContain("no address");
});

test("makes hidden characters from the server visible", () => {
  const hostile = { ...discoveryStep, response: "200\n\n\u202egnp.exe", request: null };
  const text = signInReport(
    sampleAuthorization({ account: sampleAccount(), steps: [hostile] }),
    AT,
    "1",
  );
  expect(text, "hidden characters should be named").toContain("< [U+202E]gnp.exe");
  expect(text, "no request should be added").not.toContain("\n> ");
  expect(text, "the success should be reported").toContain(
    "Signed in at https://login.idp.example/7.",
  );
  const declined = sampleAuthorization({
    failureMessage: "You declined the sign-in.",
    failure: "declined",
  });
  expect(signInReport(declined, AT, "1"), "a denial should not be reported as a failure").toContain(
    "It was declined.",
  );
});
