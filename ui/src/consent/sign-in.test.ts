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
  pressKey,
  renderRequests,
  typeText,
} from "./test-harness.svelte";

installFakeHostForEachTest();

const OPEN = "Open the sign-in page";

describe("sign in", () => {
  it("shows the page whole with its host marked, what is asked for, and who gets what", () => {
    renderRequests(consentRequest(signInBody));
    const shown = document.querySelector(".url");
    expect(shown?.textContent?.trim(), "the whole address").toBe(signInBody.authorizationUrl?.url);
    expect(shown?.querySelector("strong")?.textContent, "the host is strong").toBe("idp.example");
    expect(screen.getByText(/the server to harbour\.example/), "it is elsewhere").toBeVisible();
    const scopes = screen.getAllByRole("listitem").map((item) => item.textContent?.trim());
    expect(scopes[0], "in words and as written").toMatch(/know which account is yours\s+openid/);
    expect(scopes[1], "in words and as written").toMatch(/stay signed in\s+offline_access/);
    expect(scopes[2], "as written").toBe("ships:read");
    expect(screen.queryByText("new"), "nothing is told apart at a first sign-in").toBeNull();
    const all = document.body.textContent;
    for (const told of ["7f3a-drawbridge", "127.0.0.1:4711/callback", "mcp.harbour.example/mcp"]) {
      expect(all, `${told} is told`).toContain(told);
    }
    expect(all, "who gets the token").toMatch(
      /receives a token from https:\/\/login\.idp\.example\/7/,
    );
    expect(document.querySelector("a"), "no link").toBeNull();
  });

  it("S07: shows where credentials go, and warns of what is not at its issuer", () => {
    const evil = { ...tokenEndpoint, url: urlParts("evil.example", "https://", "/token") };
    const endpoints = [{ ...evil, elsewhere: true }];
    renderRequests(consentRequest({ ...signInBody, endpoints, pageElsewhere: true }));
    const urls = [...document.querySelectorAll(".url")].map((url) => url.textContent?.trim());
    expect(urls, "S07: the token endpoint, whole").toContain("https://evil.example/token");
    expect(
      screen.getByText(/Token endpoint: evil\.example is not/),
      "S07: warned of",
    ).toBeVisible();
    expect(
      screen.getByText(/This page is at idp\.example, but/),
      "S07: so is the page",
    ).toBeVisible();
  });

  it("S07: says nothing of the kind where all of it belongs together", () => {
    renderRequests(consentRequest(signInBody));
    expect(screen.getByText("Token endpoint"), "it is shown").toBeVisible();
    expect(screen.queryByText(/belong together/), "without a warning").toBeNull();
  });

  it("S14: without a page it shows what is added, and is allowed like anything else", async () => {
    const body = { ...stepUpBody, authorizationUrl: null, redirectUri: null } as ConsentRequestBody;
    renderRequests(consentRequest(body, { scopes: ["once"] }));
    const [first] = screen.getAllByRole("listitem");
    expect(first?.textContent, "S14: what is new").toMatch(/new\s+ships:sink/);
    expect(screen.getByText(/No page opens/), "no browser").toBeVisible();
    await waitUntilArmed();
    await clickElement(button("Allow this once"));
    expect(sentDecisions(), "this once").toMatchObject([
      { answer: { action: "allow", scope: "once" } },
    ]);
  });

  it("says when the token is good for more than the server", () => {
    const body = { ...signInBody, resource: "https://mcp.harbour.example/" };
    renderRequests(consentRequest(body));
    const told = /valid for all of https:\/\/mcp\.harbour\.example, not only for this server/;
    expect(screen.getByText(told), "others may share the host").toBeVisible();
  });

  it("does not say so of the server itself, however it is written", () => {
    const [same, server] = ["https://a.example/mcp/", "https://a.example/mcp?key=1"];
    expect(widerAudience(same, server), "a slash is no difference").toBeNull();
    expect(widerAudience("https://a.example", server), "the whole host").toBe("https://a.example");
    expect(
      widerAudience("https://a.example/team", "https://a.example/team/mcp"),
      "a part of it",
    ).toBe("https://a.example/team");
    expect(widerAudience("urn:x", "nonsense"), "what can't be read is shown as it is").toBeNull();
  });

  it("refuses by focus, is armed like any other, and is allowed once and never always", async () => {
    renderRequests(consentRequest(signInBody, { scopes: ["once"] }));
    expect(document.activeElement, "Deny has the focus").toBe(button("Deny"));
    expect(isButtonBlocked(OPEN), "not yet").toBe(true);
    await pressKey("a");
    expect(sentDecisions(), "too soon").toEqual([]);
    await waitUntilArmed();
    expect(screen.queryByRole("button", { name: /always/i }), "never always").toBeNull();
    await clickElement(button(OPEN));
    expect(sentDecisions(), "this once").toMatchObject([
      { answer: { action: "allow", scope: "once" } },
    ]);
  });

  it("for more: what is new is told by a word and stands first", () => {
    renderRequests(consentRequest(stepUpBody));
    const [first, ...others] = screen.getAllByRole("listitem");
    expect(first?.textContent, "the new one").toMatch(/new\s+ships:sink/);
    for (const other of others) {
      expect(other.textContent, "those there were").toMatch(/as before/);
    }
    expect(screen.getByText(/^tools\/call needs more permissions/), "for what").toBeVisible();
  });

  it("a page that can't be opened offers no way to", async () => {
    const authorizationUrl = { ...urlParts("idp.example", "https://", "/"), openable: false };
    renderRequests(consentRequest({ ...signInBody, authorizationUrl }));
    await waitUntilArmed();
    await pressKey("a");
    expect(screen.getByText(/This page can't be opened/), "why").toBeVisible();
    expect(screen.queryByRole("button", { name: OPEN }), "no button").toBeNull();
    expect(sentDecisions(), "no key").toEqual([]);
  });
});

describe("a client id", () => {
  it("goes with its secret to the page that is named, once it is entered", async () => {
    renderRequests(consentRequest(clientIdBody));
    expect(screen.getByText(clientIdBody.redirectUri), "what to register, exactly").toBeVisible();
    await waitUntilArmed();
    expect(isButtonBlocked("Use this client ID"), "there is none yet").toBe(true);
    await pressKey("a");
    expect(sentDecisions(), "nothing to send").toEqual([]);
    await typeText(screen.getByLabelText("Client ID"), " drawbridge ");
    await waitUntilArmed();
    await typeText(screen.getByLabelText("Client secret"), "s3cret");
    expect(isButtonBlocked("Use this client ID"), "what changed arms anew").toBe(true);
    await waitUntilArmed();
    await clickElement(button("Use this client ID"));
    const client = { clientId: "drawbridge", clientSecret: "s3cret" };
    expect(sentDecisions(), "both").toMatchObject([{ answer: { action: "identify", client } }]);
  });
});
