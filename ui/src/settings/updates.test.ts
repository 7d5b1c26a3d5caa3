import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, describe, expect, it } from "vitest";

import type { AppRelease, UpdateReport } from "$lib/platform";
import { axeProblems } from "$lib/testing/axe";
import { sampleServer, startFakeHost } from "$lib/testing/fake-host";

import Window from "../shell/Window.svelte";
import SettingsView from "./SettingsView.svelte";

afterEach(() => cleanup());

const KEY = "0123456789ABCDEF";
const release: AppRelease = {
  ...{ version: "1.2.0", notes: "Now <b>bold</b>\u202e.", date: null, size: 12_000_000 },
};

function report(step: UpdateReport["step"], source?: UpdateReport["source"]): UpdateReport {
  return { version: "1.1.0", source: source ?? { is: "releases", key: KEY }, step };
}

async function settings(
  updates: UpdateReport | null,
  snapshot: Parameters<typeof startFakeHost>[1] = {},
) {
  const host = await startFakeHost({}, snapshot);
  host.updates = updates;
  render(SettingsView);
  await screen.findByRole("heading", { name: "Files" });
  return host;
}

const found = report({ is: "found", release });
const INSTALL = "Install and restart";

describe("the updates section", () => {
  it("is hidden in a browser", async () => {
    await settings(null);
    expect(screen.queryByRole("heading", { name: "Updates" })).toBeNull();
  });

  it.each([
    ["package_manager", /^Your package manager updates Drawbridge/],
    ["flatpak", /^Flatpak updates/],
    ["not_in_build", /^This build does not include updates/],
    ["unknown_installation", /can't determine how this copy was installed/],
  ] as const)("shows who provides updates: %s", async (is, words) => {
    await settings(report({ is: "idle" }, { is }));
    expect(await screen.findByText(words)).toBeVisible();
    expect(
      screen.queryByRole("button", { name: "Check now" }),
      "there should be no button",
    ).toBeNull();
    expect(screen.queryByRole("checkbox", { name: /automatically/ })).toBeNull();
  });

  it("explains why a build can't check", async () => {
    await settings(
      report({ is: "idle" }, { is: "unusable", cause: "its public key can't be read" }),
    );
    expect(await screen.findByText("its public key can't be read")).toBeVisible();
  });

  it("checks on request only, and not automatically by default", async () => {
    const host = await settings(report({ is: "idle" }));
    const automatic = await screen.findByRole("checkbox", { name: /automatically/ });
    expect(automatic, "automatic checks should be disabled by default").not.toBeChecked();
    expect(host.updateSteps, "nothing should be checked automatically").toEqual([]);
    await fireEvent.click(screen.getByRole("button", { name: "Check now" }));
    expect(host.updateSteps).toEqual(["check"]);
    await fireEvent.click(automatic);
    await waitFor(() =>
      expect(host.requests("set_settings"), "the setting should be stored").toEqual([
        { ...host.snapshot.settings, checkUpdates: true },
      ]),
    );
  });

  it("shows version, size, signer and notes as text, and installs that version with one click", async () => {
    const host = await settings(found);
    expect(await screen.findByText("Drawbridge 1.2.0 is available")).toBeVisible();
    expect(screen.getByText(`The Drawbridge project, key ${KEY}`)).toBeVisible();
    expect(screen.getByText("12 MB")).toBeVisible();
    expect(screen.getByText(/Now <b>bold<\/b>/), "no markup should be rendered").toBeVisible();
    expect(document.body.textContent, "hidden characters should be named").not.toContain("\u202e");
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await fireEvent.click(screen.getByRole("button", { name: INSTALL }));
    expect(host.updateSteps).toEqual(["install 1.2.0"]);
  });

  it("confirms before a restart ends servers", async () => {
    const stopped = sampleServer({ name: "mail", state: { is: "stopped" } });
    const host = await settings(found, { servers: [sampleServer(), stopped] });
    await fireEvent.click(await screen.findByRole("button", { name: INSTALL }));
    const dialog = await screen.findByRole("dialog", { name: "Restart and stop 1 server?" });
    expect(host.updateSteps, "nothing should be installed before the confirmation").toEqual([]);
    await fireEvent.click(within(dialog).getByRole("button", { name: "Cancel" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(host.updateSteps, "nothing should be installed after cancelling").toEqual([]);
    await fireEvent.click(screen.getByRole("button", { name: INSTALL }));
    const secondDialog = await screen.findByRole("dialog");
    await fireEvent.click(within(secondDialog).getByRole("button", { name: INSTALL }));
    await waitFor(() => expect(host.updateSteps).toEqual(["install 1.2.0"]));
  });

  it("shows and cancels a download", async () => {
    const host = await settings(report({ is: "downloading", release, received: 6_000_000 }));
    const bar = await screen.findByRole<HTMLProgressElement>("progressbar", {
      name: /Downloading/,
    });
    expect(bar.value / bar.max).toBe(0.5);
    expect(
      screen.queryByRole("button", { name: INSTALL }),
      "a second download should not be offered",
    ).toBeNull();
    expect(screen.getByRole("button", { name: "Check now" })).toBeDisabled();
    await fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
    expect(host.updateSteps).toEqual(["stop"]);
  });

  it("explains a rejected update, and offers a retry where possible", async () => {
    const cause = "the download is not signed by the Drawbridge project";
    const host = await settings(report({ is: "refused", kind: "signature", cause, release }));
    expect(await screen.findByText("The update does not match its signature")).toBeVisible();
    expect(screen.getByText(cause)).toBeVisible();
    await fireEvent.click(screen.getByRole("button", { name: INSTALL }));
    expect(host.updateSteps).toEqual(["install 1.2.0"]);
  });
});

it("marks an available version next to the settings", async () => {
  const host = await startFakeHost();
  render(Window);
  const entry = await screen.findByRole("link", { name: "Settings" });
  host.shell({ type: "updates_changed", report: found });
  await waitFor(() => expect(entry).toHaveTextContent(/Settings\s*Update/));
  host.shell({ type: "updates_changed", report: report({ is: "current" }) });
  await waitFor(() =>
    expect(entry, "the mark should be removed").toHaveTextContent(/Settings\s*$/),
  );
});
