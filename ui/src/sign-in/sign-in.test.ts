import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, test, vi } from "vitest";

import type { Authorization, Server, ServerState, SignOutOutcome } from "$lib/api/generated";
import type { ServerTab } from "$lib/state/route";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import { sampleServer, startFakeHost } from "$lib/testing/fake-host";

import ServerPage from "../servers/ServerPage.svelte";

import { authorizations } from "./authorizations.svelte";
import {
  sampleAccount,
  sampleAuthorization,
  discoveryStep,
  signInProgress,
  refusedStep,
  serverUrl,
} from "./fixtures";

const user = userEvent.setup();
let known: Authorization;

const remote: Partial<Server> = {
  config: {
    ...{ type: "http", url: serverUrl.url, headers: [], kind: null, auth: null, revision: null },
  },
  commandLine: serverUrl.url,
  url: serverUrl,
  transport: "streamable-http",
  pid: null,
};
const needs: ServerState = { is: "needs_sign_in", cause: "it answered 401", signingIn: false };

async function show(tab: ServerTab, changes: Partial<Server>, answers = {}) {
  const host = await startFakeHost(
    { read_authorization: () => structuredClone(known), ...answers },
    { servers: [sampleServer({ ...remote, ...changes })] },
  );
  // State of the previous test must not be shown first.
  await authorizations.read("files");
  router.go({ at: "server", name: "files", tab });
  render(ServerPage, { name: "files", tab, item: undefined });
  return host;
}

beforeEach(() => (known = sampleAuthorization()));

describe("a server that needs sign-in", () => {
  test("shows the cause with sign-in as the next step", async () => {
    const host = await show("overview", { state: needs });
    expect(screen.getAllByText("needs sign-in")[0], "the state should be shown").toBeVisible();
    const note = await screen.findByRole("group", { name: "Sign-in" });
    expect(note, "the cause should be shown").toHaveTextContent("it answered 401");
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.click(within(note).getByRole("button", { name: "Sign in" }));
    expect(host.requests("sign_in"), "the sign-in should be started").toEqual([
      { server: "files" },
    ]);
    expect(router.current, "the sign-in tab should be opened").toMatchObject({ tab: "sign-in" });
  });

  test("offers sign-in on the tabs of its offers", async () => {
    const host = await show("tools", { state: needs });
    expect(
      await screen.findByText("files needs you to sign in"),
      "the missing sign-in should be mentioned",
    ).toBeVisible();
    const panel = screen.getByRole("tabpanel");
    await user.click(within(panel).getByRole("button", { name: "Sign in" }));
    expect(host.requests("sign_in"), "the sign-in should be started").toEqual([
      { server: "files" },
    ]);
  });

  test("a local server has no sign-in tab on any route", async () => {
    await startFakeHost({}, { servers: [sampleServer()] });
    render(ServerPage, { name: "files", tab: "sign-in", item: undefined });
    expect(
      screen.queryByRole("tab", { name: "Sign-in" }),
      "there should be no sign-in tab",
    ).toBeNull();
    expect(
      screen.getByRole("tab", { name: "Overview" }),
      "the overview should be selected",
    ).toHaveAttribute("aria-selected", "true");
  });
});

describe("an account", () => {
  test("shows its issuer, scopes, expiry and token storage", async () => {
    known = sampleAuthorization({
      account: sampleAccount({ isDpopBound: true }),
      tokenStorage: { where: "keychain" },
    });
    await show("sign-in", {});
    const panel = await screen.findByRole("region", { name: "Account" });
    expect(
      panel.querySelector(".url strong"),
      "the host of the issuer should be highlighted",
    ).toHaveTextContent("idp.example");
    expect(panel, "the scope should be shown with its explanation").toHaveTextContent(
      "know which account is yours openid",
    );
    expect(panel, "an unknown scope should be shown without an explanation").toHaveTextContent(
      "ships:read",
    );
    for (const text of ["renewed automatically", "registered by Drawbridge", "DPoP", "keychain"]) {
      expect(panel, text).toHaveTextContent(text);
    }
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  test("shows that tokens are stored for this run only, and why", async () => {
    const cause = "no Secret Service answers";
    known = sampleAuthorization({
      account: sampleAccount(),
      tokenStorage: { where: "this_run", cause },
    });
    await show("sign-in", {});
    const panel = await screen.findByRole("region", { name: "Account" });
    expect(panel, "the storage time should be shown").toHaveTextContent("until Drawbridge closes");
    expect(panel, "the cause should be shown").toHaveTextContent(cause);
  });

  test("shows that it no longer works", async () => {
    known = sampleAuthorization({
      account: sampleAccount({ reauthenticationReason: "the refresh token was refused" }),
    });
    await show("sign-in", {});
    expect(
      await screen.findByRole("group", { name: "This sign-in is no longer valid" }),
      "the cause should be shown",
    ).toHaveTextContent("the refresh token was refused");
  });

  const ends: [SignOutOutcome, string][] = [
    [{ revoked: "yes" }, "idp.example revoked the tokens"],
    [{ revoked: "not_offered" }, "can't revoke tokens"],
    [{ revoked: "failed", cause: "it answered 500" }, "it answered 500"],
    [{ revoked: "nobody_signed_in" }, "No account was signed in"],
  ];
  test.each(ends)(
    "signs out after confirmation, and shows the outcome: %o",
    async (done, words) => {
      known = sampleAuthorization({ account: sampleAccount() });
      const host = await show("sign-in", {}, { sign_out: () => done });
      await user.click(await screen.findByRole("button", { name: "Sign out" }));
      const dialog = await screen.findByRole("dialog", { name: "Sign out of files?" });
      expect(host.requests("sign_out"), "nothing should be done before the confirmation").toEqual(
        [],
      );
      await user.click(within(dialog).getByRole("button", { name: "Sign out" }));
      expect(host.requests("sign_out"), "the user should be signed out").toEqual([
        { server: "files" },
      ]);
      expect(
        await screen.findByRole("group", { name: "Sign out" }),
        "the outcome should be shown",
      ).toHaveTextContent(words);
    },
  );

  test("changes the account, and signs in again", async () => {
    known = sampleAuthorization({ account: sampleAccount() });
    const host = await show("sign-in", {}, { change_account: () => ({ revoked: "yes" }) });
    await user.click(await screen.findByRole("button", { name: "Sign in again" }));
    expect(host.requests("sign_in"), "the sign-in should be started again").toEqual([
      { server: "files" },
    ]);
    await user.click(screen.getByRole("button", { name: "Change account" }));
    const dialog = await screen.findByRole("dialog");
    await user.click(within(dialog).getByRole("button", { name: "Change account" }));
    expect(host.requests("change_account"), "the account should be changed").toEqual([
      { server: "files" },
    ]);
  });

  test("has no sign-in when a header authorizes", async () => {
    known = sampleAuthorization({ unsupportedReason: "its settings have an Authorization header" });
    await show("sign-in", {});
    expect(
      await screen.findByText(/have an Authorization header/),
      "the reason should be shown",
    ).toBeVisible();
    expect(
      screen.queryByRole("button", { name: "Sign in" }),
      "there should be no button to sign in",
    ).toBeNull();
    await user.click(screen.getByRole("button", { name: "Show the headers" }));
    expect(router.current, "the settings should be opened").toMatchObject({ tab: "settings" });
  });
});

describe("a running sign-in", () => {
  const waiting = () =>
    signInProgress({
      phase: "awaiting_browser",
      endsAt: Date.now() + 240_000,
      authorizationUrl: "https://login.idp.example/7/authorize?state=s",
      redirectUri: "http://127.0.0.1:4711/callback",
    });

  test("survives a reload, follows the host's events, and can be cancelled", async () => {
    known = sampleAuthorization({ inProgress: signInProgress() });
    const host = await show("sign-in", { state: { ...needs, signingIn: true } });
    const note = await screen.findByRole("group", { name: "Signing in" });
    expect(note, "the current phase should be shown").toHaveTextContent(
      "Looking up the sign-in page…",
    );
    known = sampleAuthorization({ inProgress: waiting() });
    host.send({ type: "authorization_changed", server: "files" });
    await waitFor(() =>
      expect(note, "the next phase should be shown").toHaveTextContent("in the browser"),
    );
    expect(within(note).getByRole("timer"), "the remaining time should be shown").toHaveTextContent(
      /[34] min.* left/,
    );
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.click(within(note).getByRole("button", { name: "Cancel sign-in" }));
    expect(host.requests("cancel_sign_in"), "the sign-in should be cancelled").toEqual([
      { server: "files" },
    ]);
    known = sampleAuthorization({ failureMessage: "it was cancelled", failure: "cancelled" });
    host.send({ type: "authorization_changed", server: "files" });
    expect(await screen.findByText("it was cancelled"), "the end should be shown").toBeVisible();
  });

  test("that the user denied is shown, but not as a failure", async () => {
    known = sampleAuthorization({
      failureMessage: "You declined the sign-in.",
      failure: "declined",
      steps: [discoveryStep],
    });
    await show("sign-in", {});
    const note = await screen.findByRole("group", { name: "The last sign-in" });
    expect(note, "the denial should be shown").toHaveTextContent("You declined the sign-in");
    expect(note, "the denial should be shown as information").toHaveClass("info");
    expect(
      screen.queryByText(/The last sign-in failed/),
      "the denial should not be shown as a failure",
    ).toBeNull();
  });

  test("explains the next step when the browser does not open", async () => {
    known = sampleAuthorization({
      inProgress: { ...waiting(), browserProblem: "no browser is set up" },
    });
    await show("sign-in", {});
    expect(
      await screen.findByText("no browser is set up"),
      "the cause should be shown",
    ).toBeVisible();
    expect(screen.getByText(/Did nothing open/), "the alternative should be offered").toBeVisible();
  });

  test("copies its URL, accepts the redirect URL, and rejects a wrong one", async () => {
    known = sampleAuthorization({ inProgress: waiting() });
    let isWrong = true;
    const host = await show(
      "sign-in",
      {},
      {
        complete_sign_in: () => {
          if (isWrong) throw { code: "invalid", message: "this is not the address" };
          return {};
        },
      },
    );
    await user.click(await screen.findByText(/Did nothing open/));
    await user.click(screen.getByRole("button", { name: "Copy the address" }));
    expect(await navigator.clipboard.readText(), "the whole URL should be copied").toContain(
      "state=s",
    );
    const field = screen.getByRole("textbox", { name: "Final address" });
    await user.type(field, " http://127.0.0.1:4711/callback?code=c");
    await user.click(screen.getByRole("button", { name: "Continue" }));
    expect(
      await screen.findByText("this is not the address"),
      "the cause should be shown",
    ).toBeVisible();
    isWrong = false;
    await user.click(screen.getByRole("button", { name: "Continue" }));
    expect(host.requests("complete_sign_in").at(-1), "the redirect URL should be sent").toEqual({
      server: "files",
      url: "http://127.0.0.1:4711/callback?code=c",
    });
    await waitFor(() => expect(field, "the code should be cleared").toHaveValue(""));
  });
});

describe("the steps of a sign-in", () => {
  test("expand and explain the failed one, and mark redactions", async () => {
    known = sampleAuthorization({
      failureMessage: "getting the token failed",
      failure: "refused",
      steps: [discoveryStep, refusedStep],
    });
    await show("sign-in", { state: needs });
    const list = await screen.findByRole("region", { name: "Steps of the last sign-in" });
    const [first, second] = within(list).getAllByRole("listitem");
    expect(first, "a successful step should be collapsed").not.toHaveTextContent("Request");
    expect(second, "the failed step should be labeled").toHaveTextContent("failed");
    expect(second, "the cause should be shown").toHaveTextContent("refused: invalid_grant");
    const request = within(second!).getByRole("group", { name: "Step 2: Request" });
    expect(request.querySelectorAll("mark").length, "both secrets should be marked").toBe(2);
    expect(request, "the secrets should be redacted").toHaveTextContent(
      "code=redacted&code_verifier=redacted",
    );
    await user.click(within(first!).getByRole("button"));
    expect(
      within(first!).getByRole("group", { name: "Step 1: Response" }),
      "the step should be expandable",
    ).toHaveTextContent("authorization_servers");
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.click(within(list).getByRole("button", { name: "Copy as text" }));
    expect(await navigator.clipboard.readText(), "the report should be copied").toContain("FAILED");
  });

  test("show the report for manual copying when the system refuses the clipboard", async () => {
    known = sampleAuthorization({
      failureMessage: "getting the token failed",
      failure: "refused",
      steps: [discoveryStep, refusedStep],
    });
    await show("sign-in", { state: needs });
    const list = await screen.findByRole("region", { name: "Steps of the last sign-in" });
    const write = vi.spyOn(navigator.clipboard, "writeText").mockRejectedValue(new Error("no"));
    await user.click(within(list).getByRole("button", { name: "Copy as text" }));
    const alert = await within(list).findByRole("alert");
    expect(alert, "the failure should be shown").toHaveTextContent(
      "blocked access to the clipboard",
    );
    const text = within(alert).getByRole<HTMLTextAreaElement>("textbox");
    expect(text.value, "the whole report should be shown").toContain("FAILED");
    expect(
      within(list).queryByText("Copied as text"),
      "the copy should not be confirmed",
    ).toBeNull();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    write.mockRestore();
    await user.click(within(list).getByRole("button", { name: "Copy as text" }));
    await waitFor(() =>
      expect(
        within(list).queryByRole("alert"),
        "the failure should be removed after a successful copy",
      ).toBeNull(),
    );
  });

  test("can be read again after a failure", async () => {
    let fails = true;
    await show(
      "sign-in",
      {},
      {
        read_authorization: () => {
          if (fails) throw { code: "internal", message: "the host is busy" };
          return sampleAuthorization();
        },
      },
    );
    const alert = await screen.findByRole("alert");
    expect(alert, "the cause should be shown").toHaveTextContent("the host is busy");
    fails = false;
    await user.click(within(alert).getByRole("button"));
    expect(
      await screen.findByText(/Not signed in/),
      "the account should be read again",
    ).toBeVisible();
  });
});
