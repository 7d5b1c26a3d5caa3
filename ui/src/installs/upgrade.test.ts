import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import type { InstallationInfo, InstallPreview, VersionReport } from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";
import { axeProblems } from "$lib/testing/axe";
import { sampleServer, startFakeHost } from "$lib/testing/fake-host";

import Overview from "../servers/Overview.svelte";

import {
  SERVER_NAME,
  sampleInput,
  sampleListing,
  sampleOffer,
  samplePlan,
  samplePreview,
} from "./fixtures";
import InstallSheet from "./InstallSheet.svelte";
import { installSheet } from "./install-sheet.svelte";

const user = userEvent.setup();
afterEach(() => cleanup());

const installed: InstallationInfo = {
  origin: {
    ...{
      from: "registry",
      registry: "https://registry.example",
      name: SERVER_NAME,
      version: "1.2.0",
    },
    target: { kind: "package", number: 1 },
    files: null,
  },
  changed: false,
};

function report(changes: Partial<VersionReport> = {}): VersionReport {
  return {
    ...{ server: "notes", registryName: SERVER_NAME, version: "1.2.0", status: "active" },
    ...{ statusMessage: null, newer: { version: "1.3.0", publishedAt: 1 }, problem: null },
    ...changes,
  };
}

const INPUTS = [
  sampleInput("NOTES_KEY", { required: true, secret: true }),
  sampleInput("dir", { required: true }),
];

/** Returns the preview of the newer version, which changes the package and one variable. */
function preview(): InstallPreview {
  const after = samplePreview().server;
  const before = after && {
    ...after,
    args: ["-y", "@alice/notes@1.1.0", "--dir=/home/ann/notes"],
    env: { NOTES_KEY: ["secret" as const], OLD: [{ text: "1" }] },
  };
  return { ...samplePreview(), before };
}

async function open(reported = report(), running = false) {
  const offer = sampleOffer({
    plan: samplePlan({ inputs: INPUTS }),
    origin: {
      ...{ from: "registry", bundle: null },
      listing: sampleListing({ version: "1.3.0" }),
      answer: {
        registry: "https://registry.example",
        fetchedAt: 1,
        fromCache: false,
        offlineReason: null,
      },
    },
  });
  const server = sampleServer({ name: "notes", installed });
  const host = await startFakeHost(
    {
      list_newer_versions: () => ({ servers: [reported] }),
      plan_upgrade: () => ({
        ...{ offer, installed: installed.origin, running },
        currentValues: { NOTES_KEY: null, dir: ["/home/ann/notes"] },
      }),
      preview_install: () => preview(),
      install_server: () => ({ onlyThisRun: null }),
    },
    { servers: [server] },
  );
  render(Overview, { server: app.server("notes") ?? server });
  await screen.findByText("1.2.0");
  return host;
}

test("shows the origin of a server and the changes of a newer version", async () => {
  const host = await open();
  expect(await screen.findByText("A newer version is available: 1.2.0 → 1.3.0")).toBeVisible();
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  await user.click(screen.getByRole("button", { name: "Show changes…" }));
  cleanup();
  render(InstallSheet);
  const sheet = await screen.findByRole("dialog", { name: "Change notes to version 1.3.0" });
  expect(host.requests("plan_upgrade")).toEqual([{ server: "notes", source: null }]);
  const changes = await within(sheet).findByTestId("changes");
  expect(changes).toHaveTextContent(/Now: npx -y @alice\/notes@1\.1\.0/);
  expect(changes).toHaveTextContent(/New: npx -y @alice\/notes@1\.2\.0/);
  expect(changes, "the removed variable should be listed").toHaveTextContent("OLD");
  expect(changes, "the unchanged variable should not be listed").not.toHaveTextContent("NOTES_KEY");
  expect(
    within(sheet).queryByRole("textbox", { name: "Name" }),
    "the name should not be editable",
  ).toBeNull();
  expect(within(sheet).queryByText("Access"), "the sandbox should not be editable").toBeNull();
  expect(within(sheet).getByLabelText("dir")).toHaveValue("/home/ann/notes");
  expect(within(sheet).getByLabelText("NOTES_KEY")).toHaveAccessibleDescription(
    "Leave empty to keep the current value.",
  );
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  const button = within(sheet).getByRole("button", { name: "Change version" });
  await waitFor(() => expect(button).not.toHaveAttribute("aria-busy"));
  await user.click(button);
  await waitFor(() => expect(installSheet.isOpen).toBe(false));
  expect(host.requests("install_server")).toMatchObject([
    { draft: { upgrades: "notes", name: "notes", values: {}, sandbox: null }, stopRunning: false },
  ]);
});

test("states on the button that a running server is stopped", async () => {
  const host = await open(report(), true);
  void installSheet.openUpgrade("notes");
  render(InstallSheet);
  const button = await screen.findByRole("button", { name: "Stop and change version" });
  expect(await screen.findByText("It is running. Changing the version stops it.")).toBeVisible();
  await waitFor(() => expect(button).not.toHaveAttribute("aria-busy"));
  await user.click(button);
  await waitFor(() =>
    expect(host.requests("install_server")).toMatchObject([{ stopRunning: true }]),
  );
});

test("warns about a deleted version with the publisher's message as text", async () => {
  await open(report({ status: "deleted", statusMessage: "<b>malware</b>", newer: null }));
  expect(await screen.findByText(/was deleted from the registry/)).toBeVisible();
  expect(screen.getByText("<b>malware</b>")).toBeVisible();
  expect(screen.queryByRole("button", { name: "Show changes…" })).toBeNull();
});
