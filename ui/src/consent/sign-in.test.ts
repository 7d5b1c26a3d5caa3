import { screen } from "@testing-library/svelte";
import { describe, expect, it } from "vitest";

import { widerAudience } from "./token-audience";
import type { ConsentRequestBody } from "$lib/api/generated";

import {
  urlParts,
  clientIdBody,
  consentRequest,
  signInBody,
  stepUpBody,
  tokenEndpoint,
} from "./fixtures";
import {
  sentDecisions,
  waitUntilArmed,
  isButtonBlocked,
  button,
  clickElement,
  installFakeHostForEachTest,
  moveToRequest,
  pressKey,
  renderRequests,
  typeText,
} from "./test-harness.svelte";

installFakeHostForEachTest();

const OPEN_SIGN_IN_LABEL = "Open the sign-in page";

describe("sign in", () => {
  it("shows the whole URL with its host, the scopes, and who receives which data", () => {
    renderRequests(consentRequest(signInBody));
    const shown = document.querySelector(".url");
    expect(shown?.textContent?.trim(), "the whole URL should be shown").toBe(
      signInBody.authorizationUrl?.url,
    );
    expect(shown?.querySelector("strong")?.textContent, "the host should be highlighted").toBe(
      "idp.example",
    );
    expect(
      screen.getByText(/the server to harbour\.example/),
      "the other host should be mentioned",
    ).toBeVisible();
    const scopes = screen.getAllByRole("listitem").map((item) => item.textContent?.trim());
    expect(scopes[0], "the scope should be shown with its explanation").toMatch(
      /know which account is yours\s+openid/,
    );
    expect(scopes[1], "the scope should be shown with its explanation").toMatch(
      /stay signed in\s+offline_access/,
    );
    expect(scopes[2], "an unknown scope should be shown without an explanation").toBe("ships:read");
    expect(
      screen.queryByText("new"),
      "no scope should be marked as new at the first sign-in",
    ).toBeNull();
    const all = document.body.textContent;
    for (const text of ["7f3a-drawbridge", "127.0.0.1:4711/callback", "mcp.harbour.example/mcp"]) {
      expect(all, `${text} should be shown`).toContain(text);
    }
    expect(all, "the receiver of the token should be shown").toMatch(
      /receives a token from https:\/\/login\.idp\.example\/7/,
    );
    expect(document.querySelector("a"), "the URL should not be a link").toBeNull();
  });

  it("S07: shows where credentials are sent, and warns of endpoints outside of the issuer", () => {
    const evil = { ...tokenEndpoint, url: urlParts("evil.example", "https://", "/token") };
    const endpoints = [{ ...evil, isOnOtherDomain: true }];
    renderRequests(consentRequest({ ...signInBody, endpoints, isPageOnOtherDomain: true }));
    const urls = [...document.querySelectorAll(".url")].map((url) => url.textContent?.trim());
    expect(urls, "S07: the whole URL of the token endpoint should be shown").toContain(
      "https://evil.example/token",
    );
    expect(
      screen.getByText(/Token endpoint: evil\.example is not/),
      "S07: the token endpoint should cause a warning",
    ).toBeVisible();
    expect(
      screen.getByText(/This page is at idp\.example, but/),
      "S07: the authorization page should cause a warning",
    ).toBeVisible();
  });

  it("S07: shows no warning if all endpoints belong together", () => {
    renderRequests(consentRequest(signInBody));
    expect(screen.getByText("Token endpoint"), "the token endpoint should be shown").toBeVisible();
    expect(screen.queryByText(/belong together/), "there should be no warning").toBeNull();
  });

  it("S14: shows the added scopes if no page opens, and is allowed like other requests", async () => {
    const body = { ...stepUpBody, authorizationUrl: null, redirectUri: null } as ConsentRequestBody;
    renderRequests(consentRequest(body, { scopes: ["once"] }));
    const [first] = screen.getAllByRole("listitem");
    expect(first?.textContent, "S14: the new scope should be marked").toMatch(/new\s+ships:sink/);
    expect(
      screen.getByText(/No page opens/),
      "the request should state that no page opens",
    ).toBeVisible();
    await waitUntilArmed();
    await clickElement(button("Allow this once"));
    expect(sentDecisions(), "the request should be allowed once").toMatchObject([
      { answer: { action: "allow", scope: "once" } },
    ]);
  });

  it("warns if the token is valid for more than the server", () => {
    const body = { ...signInBody, resource: "https://mcp.harbour.example/" };
    renderRequests(consentRequest(body));
    const note = /valid for all of https:\/\/mcp\.harbour\.example, not only for this server/;
    expect(screen.getByText(note), "a shared host should cause a warning").toBeVisible();
  });

  it("does not warn of the server itself in any notation", () => {
    const [same, server] = ["https://a.example/mcp/", "https://a.example/mcp?key=1"];
    expect(widerAudience(same, server), "a trailing slash should be ignored").toBeNull();
    expect(widerAudience("https://a.example", server), "the whole host should be reported").toBe(
      "https://a.example",
    );
    expect(
      widerAudience("https://a.example/team", "https://a.example/team/mcp"),
      "a parent path should be reported",
    ).toBe("https://a.example/team");
    expect(widerAudience("urn:x", "nonsense"), "an invalid URL should be ignored").toBeNull();
  });

  it("focuses Deny, is armed like other requests, and is allowed only once", async () => {
    renderRequests(consentRequest(signInBody, { scopes: ["once"] }));
    expect(document.activeElement, "Deny should be focused").toBe(button("Deny"));
    expect(isButtonBlocked(OPEN_SIGN_IN_LABEL), "the button should be disabled at first").toBe(
      true,
    );
    await moveToRequest();
    await pressKey("a");
    expect(sentDecisions(), "an early click should have no effect").toEqual([]);
    await waitUntilArmed();
    expect(
      screen.queryByRole("button", { name: /always/i }),
      "the sign-in should not be allowed permanently",
    ).toBeNull();
    await clickElement(button(OPEN_SIGN_IN_LABEL));
    expect(sentDecisions(), "the request should be allowed once").toMatchObject([
      { answer: { action: "allow", scope: "once" } },
    ]);
  });

  it("for more scopes: marks new scopes and lists them first", () => {
    renderRequests(consentRequest(stepUpBody));
    const [first, ...others] = screen.getAllByRole("listitem");
    expect(first?.textContent, "the new scope should be marked and first").toMatch(
      /new\s+ships:sink/,
    );
    for (const other of others) {
      expect(other.textContent, "the granted scopes should be marked").toMatch(/as before/);
    }
    expect(
      screen.getByText(/^tools\/call needs more permissions/),
      "the reason should be shown",
    ).toBeVisible();
  });

  it("an unsupported URL has no button to open it", async () => {
    const authorizationUrl = { ...urlParts("idp.example", "https://", "/"), openable: false };
    renderRequests(consentRequest({ ...signInBody, authorizationUrl }));
    await waitUntilArmed();
    await moveToRequest();
    await pressKey("a");
    expect(
      screen.getByText(/This page can't be opened/),
      "the reason should be shown",
    ).toBeVisible();
    expect(
      screen.queryByRole("button", { name: OPEN_SIGN_IN_LABEL }),
      "there should be no button to open the URL",
    ).toBeNull();
    expect(sentDecisions(), "the shortcut should have no effect").toEqual([]);
  });
});

describe("a client id", () => {
  it("is sent together with its secret once it was entered", async () => {
    renderRequests(consentRequest(clientIdBody));
    expect(
      screen.getByText(clientIdBody.redirectUri),
      "the redirect URI to register should be shown exactly",
    ).toBeVisible();
    await waitUntilArmed();
    expect(
      isButtonBlocked("Use this client ID"),
      "the button should be disabled without a client ID",
    ).toBe(true);
    await moveToRequest();
    await pressKey("a");
    expect(sentDecisions(), "nothing should be sent").toEqual([]);
    await typeText(screen.getByLabelText("Client ID"), " drawbridge ");
    await waitUntilArmed();
    await typeText(screen.getByLabelText("Client secret"), "s3cret");
    expect(isButtonBlocked("Use this client ID"), "a change should arm the button again").toBe(
      true,
    );
    await waitUntilArmed();
    await clickElement(button("Use this client ID"));
    const client = { clientId: "drawbridge", clientSecret: "s3cret" };
    expect(sentDecisions(), "the client ID and secret should be sent").toMatchObject([
      { answer: { action: "identify", client } },
    ]);
  });
});
