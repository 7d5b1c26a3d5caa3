// The sandbox that a start request offers.
import { screen } from "@testing-library/svelte";
import { expect, it, vi } from "vitest";

import type { SandboxOffer, SandboxPlan } from "$lib/api/generated";

import { consentRequest, startServerBody } from "./fixtures";
import {
  waitUntilArmed,
  isButtonBlocked,
  button,
  clickElement,
  installFakeHostForEachTest,
  accessibilityProblems,
  host,
  renderRequests,
} from "./test-harness.svelte";

installFakeHostForEachTest();

const plan: SandboxPlan = {
  mechanism: "bubblewrap",
  folders: [{ path: "/home/ann", access: "read" }],
  program: ["/usr/bin/npx"],
  system: ["/usr"],
  home: "/data/sandbox/1",
  network: { preset: "named_hosts", hosts: ["registry.npmjs.org"] },
  limits: { processes: 100, memoryBytes: 1_000, homeBytes: 1_000, processorSeconds: 60 },
};
const sandbox = { folders: plan.folders, network: plan.network };
const possible: SandboxOffer = { is: "possible", sandbox, plan, missing: [] };
const start = consentRequest(startServerBody, { scopes: ["once", "always"] });
const OFFER_TITLE = "Run it in a sandbox instead";
const sentRequests = (name: string) =>
  host.sent.filter(([sent]) => sent === name).map(([, r]) => r);

/** Renders the consent request, and waits until the host has proposed a sandbox. */
async function showStart(request = start) {
  renderRequests(request);
  await vi.advanceTimersByTimeAsync(0);
}

/** Renders the consent request and unfolds the proposed sandbox. */
async function showOffer() {
  await showStart();
  unfoldOffer();
}

function unfoldOffer() {
  const details = screen.getByText(OFFER_TITLE).closest("details");
  if (details) details.open = true;
}

function chooseNetwork(network: string) {
  const select = screen.getByLabelText<HTMLSelectElement>("Network");
  select.value = network;
  select.dispatchEvent(new Event("change", { bubbles: true }));
  return vi.advanceTimersByTimeAsync(0);
}

it("E6: shows the reachable resources, and requests exactly the sandbox that is shown", async () => {
  host.handlers.propose_sandbox = () => possible;
  let answer = () => {};
  host.handlers.add_sandbox = () => new Promise((done) => (answer = () => done({})));
  await showOffer();
  expect(
    screen.getAllByText("/home/ann").length,
    "the readable folder should be shown",
  ).toBeGreaterThan(1);
  expect(
    screen.getAllByText("registry.npmjs.org")[0],
    "the network access should be shown",
  ).toBeVisible();
  await waitUntilArmed();
  await clickElement(button("Use this sandbox"));
  expect(sentRequests("add_sandbox")).toEqual([{ id: "q1", hash: "h1", sandbox }]);
  expect(sentRequests("decide_consent_request"), "nothing should be approved").toEqual([]);
  expect(isButtonBlocked("Allow once"), "the request should not be approvable meanwhile").toBe(
    true,
  );
  answer();
});

it("is collapsed to one line at first, which does not delay the approval", async () => {
  host.handlers.propose_sandbox = () => possible;
  await showStart();
  expect(screen.getByText(OFFER_TITLE)).toBeVisible();
  expect(screen.getByText("Use this sandbox"), "the offer should be collapsed").not.toBeVisible();
  await waitUntilArmed();
  expect(isButtonBlocked("Allow once")).toBe(false);
  unfoldOffer();
  expect(screen.getByText("Use this sandbox"), "the offer should be expanded").toBeVisible();
});

it("has no accessibility problems", async () => {
  host.handlers.propose_sandbox = () => possible;
  await showOffer();
  expect(await accessibilityProblems(), "axe should find no violations").toEqual([]);
});

it("requests the sandbox with another network access", async () => {
  host.handlers.propose_sandbox = ({ network }: { network: { preset: string } | null }) =>
    network?.preset === "full"
      ? { ...possible, sandbox: { ...sandbox, network }, plan: { ...plan, network } }
      : possible;
  await showOffer();
  expect(screen.getByLabelText("Network")).toHaveValue("named_hosts");
  await chooseNetwork("full");
  expect(screen.getByText(/^The server can send anything it reads anywhere/)).toBeVisible();
  expect(sentRequests("propose_sandbox")).toEqual([
    { id: "q1", network: null },
    { id: "q1", network: { preset: "full" } },
  ]);
});

it("can't be used until the offer with the chosen network arrives", async () => {
  const network = { preset: "files_only" as const };
  const other = { ...possible, sandbox: { ...sandbox, network }, plan: { ...plan, network } };
  let arrive = () => {};
  host.handlers.propose_sandbox = ({ network: wanted }: { network: unknown }) =>
    wanted === null ? possible : new Promise((done) => (arrive = () => done(other)));
  await showOffer();
  await chooseNetwork("files_only");
  expect(
    button("Use this sandbox"),
    "the old offer should be disabled because it has a wider network access",
  ).toBeDisabled();
  expect(screen.getByText("Loading…")).toBeVisible();
  await clickElement(button("Use this sandbox"));
  expect(sentRequests("add_sandbox")).toEqual([]);
  arrive();
  await vi.advanceTimersByTimeAsync(0);
  await clickElement(button("Use this sandbox"));
  expect(sentRequests("add_sandbox")).toMatchObject([{ sandbox: { network } }]);
});

it("removes the old offer if the one with the chosen network fails, until another succeeds", async () => {
  let fails = true;
  host.handlers.propose_sandbox = ({ network }: { network: unknown }) =>
    network !== null && fails ? Promise.reject(new Error("no plan")) : possible;
  await showOffer();
  await chooseNetwork("files_only");
  expect(screen.getByText("no plan")).toBeVisible();
  expect(
    screen.queryByRole("button", { name: "Use this sandbox" }),
    "there should be no offer",
  ).toBeNull();
  expect(
    screen.getByLabelText("Network"),
    "another network access should be selectable",
  ).toHaveValue("files_only");
  fails = false;
  await clickElement(button("Try again"));
  expect(screen.queryByText("no plan"), "the error should be cleared").toBeNull();
  expect(button("Use this sandbox")).toBeEnabled();
});

it.each<[string, SandboxOffer, RegExp]>([
  ["a container", { is: "container" }, /^It runs in a container/],
  [
    "a broad folder",
    { is: "broad_folder", folder: "/home/ann" },
    /^Its working folder \/home\/ann /,
  ],
  [
    "a system without a sandbox",
    { is: "impossible", sandbox, problem: "no mechanism", cause: "not_here" },
    /^This computer has no sandbox/,
  ],
])("gives the reason if there is no offer: %s", async (_, offer, text) => {
  host.handlers.propose_sandbox = () => offer;
  await showStart();
  expect(screen.getByText(text)).toBeVisible();
  expect(screen.queryByRole("button", { name: "Use this sandbox" })).toBeNull();
});

it("names the problem of a sandbox that can't be set up", async () => {
  host.handlers.propose_sandbox = () => ({
    ...{ is: "impossible", sandbox, problem: "bubblewrap is missing", cause: "no_hosts" },
  });
  await showOffer();
  expect(screen.getByText("bubblewrap is missing")).toBeVisible();
  expect(screen.queryByRole("button", { name: "Use this sandbox" })).toBeNull();
});

it("a server with a sandbox gets no offer", async () => {
  await showStart(consentRequest({ ...startServerBody, sandbox: plan } as typeof startServerBody));
  expect(sentRequests("propose_sandbox")).toEqual([]);
});
