import { screen } from "@testing-library/svelte";
import { describe, expect, it } from "vitest";

import { widerAudience } from "./token-audience";
import type { ConsentRequestBody } from "$lib/api/generated";

import { address, clientId, consentRequest, signIn, stepUp, tokenEndpoint } from "./fixtures";
import {
  answers,
  arm,
  blocked,
  button,
  click,
  eachWithHost,
  press,
  show,
  type,
} from "./test-harness.svelte";

eachWithHost();

const OPEN = "Open the sign-in page";

describe("sign in", () => {
  it("shows the page whole with its host marked, what is asked for, and who gets what", () => {
    show(consentRequest(signIn));
    const shown = document.querySelector(".url");
    expect(shown?.textContent?.trim(), "the whole address").toBe(signIn.authorizationUrl?.url);
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
    const evil = { ...tokenEndpoint, url: address("evil.example", "https://", "/token") };
    const endpoints = [{ ...evil, elsewhere: true }];
    show(consentRequest({ ...signIn, endpoints, pageElsewhere: true }));
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
    show(consentRequest(signIn));
    expect(screen.getByText("Token endpoint"), "it is shown").toBeVisible();
    expect(screen.queryByText(/belong together/), "without a warning").toBeNull();
  });

  it("S14: without a page it shows what is added, and is allowed like anything else", async () => {
    const body = { ...stepUp, authorizationUrl: null, redirectUri: null } as ConsentRequestBody;
    show(consentRequest(body, { scopes: ["once"] }));
    const [first] = screen.getAllByRole("listitem");
    expect(first?.textContent, "S14: what is new").toMatch(/new\s+ships:sink/);
    expect(screen.getByText(/No page opens/), "no browser").toBeVisible();
    await arm();
    await click(button("Allow this once"));
    expect(answers(), "this once").toMatchObject([{ answer: { action: "allow", scope: "once" } }]);
  });

  it("says when the token is good for more than the server", () => {
    const body = { ...signIn, resource: "https://mcp.harbour.example/" };
    show(consentRequest(body));
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
    show(consentRequest(signIn, { scopes: ["once"] }));
    expect(document.activeElement, "Deny has the focus").toBe(button("Deny"));
    expect(blocked(OPEN), "not yet").toBe(true);
    await press("a");
    expect(answers(), "too soon").toEqual([]);
    await arm();
    expect(screen.queryByRole("button", { name: /always/i }), "never always").toBeNull();
    await click(button(OPEN));
    expect(answers(), "this once").toMatchObject([{ answer: { action: "allow", scope: "once" } }]);
  });

  it("for more: what is new is told by a word and stands first", () => {
    show(consentRequest(stepUp));
    const [first, ...others] = screen.getAllByRole("listitem");
    expect(first?.textContent, "the new one").toMatch(/new\s+ships:sink/);
    for (const other of others) {
      expect(other.textContent, "those there were").toMatch(/as before/);
    }
    expect(screen.getByText(/^tools\/call needs more permissions/), "for what").toBeVisible();
  });

  it("a page that can't be opened offers no way to", async () => {
    const authorizationUrl = { ...address("idp.example", "https://", "/"), openable: false };
    show(consentRequest({ ...signIn, authorizationUrl }));
    await arm();
    await press("a");
    expect(screen.getByText(/This page can't be opened/), "why").toBeVisible();
    expect(screen.queryByRole("button", { name: OPEN }), "no button").toBeNull();
    expect(answers(), "no key").toEqual([]);
  });
});

describe("a client id", () => {
  it("goes with its secret to the page that is named, once it is entered", async () => {
    show(consentRequest(clientId));
    expect(screen.getByText(clientId.redirectUri), "what to register, exactly").toBeVisible();
    await arm();
    expect(blocked("Use this client ID"), "there is none yet").toBe(true);
    await press("a");
    expect(answers(), "nothing to send").toEqual([]);
    await type(screen.getByLabelText("Client ID"), " drawbridge ");
    await arm();
    await type(screen.getByLabelText("Client secret"), "s3cret");
    expect(blocked("Use this client ID"), "what changed arms anew").toBe(true);
    await arm();
    await click(button("Use this client ID"));
    const client = { clientId: "drawbridge", clientSecret: "s3cret" };
    expect(answers(), "both").toMatchObject([{ answer: { action: "identify", client } }]);
  });
});
