// The list of everything that allows something without consent: its items, search, revocation and Undo.
import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { ApiError } from "$lib/api/client";
import type { Grant } from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import { sampleServer, startFakeHost, type FakeHost } from "$lib/testing/fake-host";

import { emptyPolicy, sampleRule } from "../rules/fixtures";
import { samplingReport } from "../servers/sampling-fixtures";
import { UNDO_PERIOD_MS } from "./allowed.svelte";
import RulesView from "./RulesView.svelte";

const NOW = 1_790_000_000_000;

beforeEach(() => {
  vi.useFakeTimers({ shouldAdvanceTime: true, now: NOW });
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const grant: Grant = {
  ...{ id: "g1", server: "files", tool: "read", scope: "always", conversation: null },
  ...{ since: NOW - 86_400_000, expiresAt: null, boundHash: "abc" },
  lastUse: { at: NOW - 3_600_000, by: "model" },
};
const shared = { decided: true, folders: ["/home/ann/trip"], sentFolders: ["/home/ann/trip"] };
const denied = { decided: true, folders: [], sentFolders: [] };

/** Shows the view on a host with these grants, whose `revoke_grant` removes one. */
async function show(
  grants: Grant[],
  answers: FakeHost["answers"] = {},
  servers = [sampleServer({ name: "files" }), sampleServer({ name: "git" })],
): Promise<FakeHost> {
  let remaining = grants;
  const host = await startFakeHost(
    {
      read_policy: () => emptyPolicy,
      list_grants: () => ({ grants: remaining }),
      revoke_grant: ({ id }) => {
        remaining = remaining.filter((one) => one.id !== id);
        return {};
      },
      restore_grant: ({ id }) => {
        remaining = grants.filter((one) => one.id === id || remaining.includes(one));
        return {};
      },
      read_sampling: ({ server }) => samplingReport({ isEnabled: server === "git" }),
      ...answers,
    },
    { servers },
  );
  render(RulesView);
  return host;
}

const row = async (text: string | RegExp) =>
  (await screen.findByText(text)).closest("li") as HTMLElement;
const revoke = async (item: HTMLElement) =>
  fireEvent.click(within(item).getByRole("button", { name: /^Revoke/ }));

test("an approval to start is in use while its server runs with what it allows", async () => {
  const start = { ...grant, tool: null, lastUse: undefined };
  const running = sampleServer({ name: "files", launchedHash: start.boundHash });
  const host = await show([start], {}, [running]);
  const item = await row("Starting the server");
  expect(item).toHaveTextContent("In use: the server is running");
  host.send({ type: "server_changed", server: { ...running, launchedHash: "another" } });
  await waitFor(() => expect(item).not.toHaveTextContent("In use"));
  host.send({ type: "server_changed", server: running });
  await waitFor(() => expect(item).toHaveTextContent("In use"));
  const stopped = sampleServer({ name: "files", state: { is: "stopped" } });
  host.send({ type: "server_changed", server: stopped });
  await waitFor(() => expect(item).toHaveTextContent("Not used since you gave it"));
});

test("lists grants, folders, models and rules with their validity and last use", async () => {
  const rule = { ...{ effect: "allow" as const, tool: "add" }, expiresAt: NOW + 60_000 };
  const use = {
    rule: { source: "user" as const, id: "1" },
    lastUse: { at: NOW, by: "user" as const },
  };
  await show([], {
    read_sampling: ({ server }) =>
      samplingReport(
        { isEnabled: server === "git" },
        { lastUse: { at: NOW - 7_200_000, by: "app" } },
      ),
    read_policy: () => ({
      ...emptyPolicy,
      rules: [sampleRule(rule), sampleRule({ id: "2", effect: "deny", tool: "denied_tool" })],
    }),
    list_grants: () => ({
      grants: [grant, { ...grant, id: "g2", tool: "write", scope: "session", lastUse: undefined }],
      ruleUses: [use],
    }),
  });
  const always = await row("Tool read");
  expect(always).toHaveTextContent("files");
  expect(always, "the validity should be shown").toHaveTextContent("Until you revoke it");
  expect(always, "the last use should be shown").toHaveTextContent(
    "Last used 1 hour ago by a model in a conversation",
  );
  const session = await row("Tool write");
  expect(session, "the temporary grant should be labeled").toHaveTextContent(
    "Until Drawbridge closes",
  );
  expect(session).toHaveTextContent("Not used since you gave it");
  const sampling = await row(/^may use your models/);
  expect(sampling).toHaveTextContent(/git.*Last used 2 hours ago by an app of the server/);
  const allowing = await row(/^Rule: tool add of files/);
  expect(allowing).toHaveTextContent(/Until \w/);
  expect(allowing).toHaveTextContent(/Last used .* by you/);
  expect(
    screen.queryByText(/^Rule: tool denied_tool/),
    "a rule that denies should not be listed",
  ).toBeNull();
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
});

test("an item that still requires consent is not listed", async () => {
  const servers = [
    sampleServer({ name: "files", roots: shared }),
    sampleServer({ name: "mail", roots: denied }),
    sampleServer({ name: "git" }),
  ];
  await show([grant], {}, servers);
  await row(/^may use your models/);
  const allowed = screen.getByRole("list", { name: "Allowed without asking" });
  const others = screen.getByRole("list", { name: "Other decisions" });
  expect(within(allowed).getAllByRole("listitem")).toHaveLength(2);
  expect(allowed).toHaveTextContent(/Tool read.*\/home\/ann\/trip|trip.*Tool read/s);
  expect(within(others).getAllByRole("listitem")).toHaveLength(2);
  expect(others).toHaveTextContent(/may use your models/);
  expect(others).toHaveTextContent(/has no shared folders/);
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
});

test("a revoked grant is restored by Undo, which ends after a few seconds", async () => {
  const host = await show([grant]);
  await revoke(await row("Tool read"));
  const undo = await screen.findByRole("button", { name: "Undo: Tool read, files" });
  expect(await screen.findByText("The next call of read needs your approval.")).toBeVisible();
  await fireEvent.click(undo);
  expect(await screen.findByText("It is allowed again, as before.")).toBeVisible();
  expect(host.requests("restore_grant"), "exactly this grant should be restored").toEqual([
    { id: "g1" },
  ]);
  await revoke(await row("Tool read"));
  await screen.findByRole("button", { name: /^Undo/ });
  await vi.advanceTimersByTimeAsync(UNDO_PERIOD_MS + 1_000);
  expect(
    screen.queryByRole("button", { name: /^Undo/ }),
    "Undo should not be offered after a few seconds",
  ).toBeNull();
  expect(within(await row("Tool read")).getByText("Revoked")).toBeVisible();
});

test("Undo does nothing after a change of the server, or if the host finds one", async () => {
  const host = await show([grant, { ...grant, id: "g2", tool: "write", since: NOW }], {
    restore_grant: () =>
      Promise.reject(new ApiError({ code: "stale", message: "the tool changed" })),
  });
  await revoke(await row("Tool write"));
  await fireEvent.click(await screen.findByRole("button", { name: "Undo: Tool write, files" }));
  expect(await screen.findByText(/^This can't be undone any more/)).toBeVisible();
  expect(await row("Tool write"), "the grant should stay revoked").toHaveTextContent("Revoked");
  await revoke(await row("Tool read"));
  const undo = await screen.findByRole("button", { name: "Undo: Tool read, files" });
  const config = {
    ...{ type: "stdio" as const, command: "other", args: [], env: {} },
    ...{ cwd: null, revision: null },
  };
  host.send({ type: "server_changed", server: sampleServer({ name: "files", config }) });
  const before = host.requests("restore_grant").length;
  await fireEvent.click(undo);
  expect(
    host.requests("restore_grant"),
    "nothing should be restored after a change of the server",
  ).toHaveLength(before);
  expect(await row("Tool read")).toHaveTextContent("Revoked");
});

test("a new rule with the id of a revoked one is allowed, and can be revoked", async () => {
  let rules = [sampleRule({ id: "5", effect: "allow", tool: "add" })];
  const host = await show([], {
    read_policy: () => ({ ...emptyPolicy, rules }),
    remove_policy_rule: ({ id }) => {
      rules = rules.filter((rule) => rule.id !== id);
      return {};
    },
  });
  await revoke(await row(/^Rule: tool add/));
  expect(await screen.findByText("Revoked")).toBeVisible();
  rules = [sampleRule({ id: "5", effect: "allow", tool: "echo" })];
  host.send({ type: "rules_changed" });
  const added = await row(/^Rule: tool echo/);
  expect(
    within(added).queryByText("Revoked"),
    "the new rule should not be marked as revoked",
  ).toBeNull();
  expect(
    await row(/^Rule: tool add/),
    "the removed rule should be marked as revoked",
  ).toHaveTextContent("Revoked");
  await revoke(added);
  await waitFor(() => expect(added).toHaveTextContent("Revoked"));
  expect(host.requests("remove_policy_rule")).toHaveLength(2);
});

test("a revoked rule that was added again is allowed", async () => {
  const all = [sampleRule({ id: "5", effect: "allow", tool: "add" })];
  let rules = all;
  const host = await show([], {
    read_policy: () => ({ ...emptyPolicy, rules }),
    remove_policy_rule: () => {
      rules = [];
      return {};
    },
  });
  await revoke(await row(/^Rule: tool add/));
  expect(await screen.findByText("Revoked")).toBeVisible();
  rules = all;
  host.send({ type: "rules_changed" });
  await waitFor(() =>
    expect(screen.queryByText("Revoked"), "the rule should not be marked as revoked").toBeNull(),
  );
  await revoke(await row(/^Rule: tool add/));
  expect(await screen.findByText("Revoked")).toBeVisible();
  expect(host.requests("remove_policy_rule")).toHaveLength(2);
});

test("E16: shared folders and sampling are revoked with Undo, and denied folders are listed", async () => {
  const servers = [
    sampleServer({ name: "files", roots: shared }),
    sampleServer({ name: "mail", roots: denied }),
    sampleServer({ name: "git" }),
  ];
  let sampling = true;
  const host: FakeHost = await startFakeHost(
    {
      read_policy: () => emptyPolicy,
      list_grants: () => ({ grants: [] }),
      read_sampling: ({ server }) => samplingReport({ isEnabled: server === "git" && sampling }),
      set_sampling: ({ settings }) => {
        sampling = settings.isEnabled;
        return {};
      },
      set_roots: ({ folders }) => {
        const roots = { decided: true, folders, sentFolders: folders };
        host.send({ type: "server_changed", server: sampleServer({ name: "files", roots }) });
        return {};
      },
    },
    { servers },
  );
  render(RulesView);
  expect(await screen.findByText("/home/ann/trip")).toBeVisible();
  const none = await row("has no shared folders");
  expect(none, "denied folders should be listed").toHaveTextContent("mail");
  expect(
    within(none).queryByRole("button", { name: /^Revoke/ }),
    "denied folders should not be revocable",
  ).toBeNull();
  await revoke(await row("/home/ann/trip"));
  await fireEvent.click(await screen.findByRole("button", { name: /^Undo: .*files$/ }));
  await waitFor(() =>
    expect(host.requests("set_roots"), "the folders should be restored").toEqual([
      { server: "files", folders: [] },
      { server: "files", folders: ["/home/ann/trip"] },
    ]),
  );
  await revoke(await row(/^may use your models/));
  await waitFor(() => expect(host.requests("set_sampling")[0]?.settings.isEnabled).toBe(false));
  await fireEvent.click(await screen.findByRole("button", { name: /^Undo: .*git$/ }));
  await waitFor(() => expect(host.requests("set_sampling")[1]?.settings.isEnabled).toBe(true));
});

test("an approved app page is revoked without Undo, and is listed again after another approval", async () => {
  const uri = "ui://files/chart";
  const grants = { declaredOrigins: true, loopback: false, everyHost: false, permissions: [] };
  let apps = [{ uri, hash: "h1", grants, since: NOW - 86_400_000 }];
  const host = await show([], {
    list_reviewed_definitions: ({ server }) => ({
      ...{ server, identity: [], identitySince: null, issuer: null, tools: [], prompts: [] },
      apps: server === "files" ? apps : [],
    }),
    revoke_app: () => {
      apps = [];
      return {};
    },
  });
  const item = await row(`App page ${uri}`);
  expect(item).toHaveTextContent(/files.*Until you revoke it.*Allowed yesterday/);
  expect(item, "uses of pages are not recorded").not.toHaveTextContent(/used/i);
  await revoke(item);
  expect(await screen.findByText(/^The app needs your approval/)).toBeVisible();
  expect(host.requests("revoke_app")).toEqual([{ server: "files", uri }]);
  expect(await row(`App page ${uri}`)).toHaveTextContent("Revoked");
  expect(
    screen.queryByRole("button", { name: /^Undo/ }),
    "the page should be approved where it is shown",
  ).toBeNull();
  apps = [{ uri, hash: "h2", grants, since: NOW }];
  host.send({ type: "catalog_changed", server: "files" });
  const again = await screen.findByRole("button", { name: `Revoke: App page ${uri}, files` });
  expect(again, "the new approval should be revocable").toBeVisible();
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
});

test("more than ten items can be searched", async () => {
  const grants = Array.from({ length: 11 }, (_, i) => ({
    ...grant,
    ...{ id: `g${i}`, tool: `tool-${i}`, since: i },
  }));
  await show(grants.slice(0, 9));
  await row("Tool tool-8");
  expect(screen.queryByRole("searchbox"), "ten items should have no search").toBeNull();
  cleanup();
  await show(grants);
  const search = await screen.findByRole("searchbox", { name: "Search this list" });
  await fireEvent.input(search, { target: { value: "TOOL-10" } });
  expect(await screen.findByText("Tool tool-10")).toBeVisible();
  expect(screen.queryByText("Tool tool-1")).toBeNull();
  await fireEvent.input(search, { target: { value: "nowhere" } });
  expect(await screen.findByText("Nothing in this list matches.")).toBeVisible();
});
