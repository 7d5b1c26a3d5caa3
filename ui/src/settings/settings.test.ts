import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Grant, SecretsStatus, ServerConfig } from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import { sampleServer, startFakeHost } from "$lib/testing/fake-host";
import { settle } from "$lib/testing/settle";

import { emptyPolicy } from "../rules/fixtures";

import RulesView from "./RulesView.svelte";
import SettingsView from "./SettingsView.svelte";

afterEach(() => cleanup());

describe("the window's sandbox", () => {
  it("is hidden if the system's web view manages it", async () => {
    await startFakeHost();
    render(SettingsView);
    await screen.findByRole("heading", { name: "Files" });
    expect(screen.queryByRole("heading", { name: "Sandbox of this window" })).toBeNull();
  });

  it("shows that it is on", async () => {
    (await startFakeHost()).sandbox = { is: "on" };
    render(SettingsView);
    expect(await screen.findByText(/^On\. The process that draws this window/)).toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  it("shows that it is off, with the cause", async () => {
    const cause = "bwrap: setting up uid map: Permission denied";
    (await startFakeHost()).sandbox = { is: "off", reason: "no_namespaces", cause };
    render(SettingsView);
    expect(
      await screen.findByText("Off: a flaw in WebKitGTK could expose your files"),
    ).toBeVisible();
    expect(screen.getByText(/does not let Drawbridge create user namespaces/)).toBeVisible();
    expect(screen.getByText(cause), "the message of bubblewrap should be shown").toBeVisible();
    expect(
      screen.queryByRole("button", { name: /next start/ }),
      "the next start should retry without a button",
    ).toBeNull();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  it("shows that a blank window can't be recorded, with the cause", async () => {
    const host = await startFakeHost();
    const cause = "/data/page-sandbox.json can't be written: No space left on device";
    host.sandbox = { is: "off", reason: "no_memory", cause, storageProblem: cause };
    const { unmount } = render(SettingsView);
    expect(await screen.findByText(/started without the sandbox/)).toBeVisible();
    expect(screen.getAllByText(cause), "the cause should be shown once").toHaveLength(1);
    unmount();
    host.sandbox = { is: "on", storageProblem: cause };
    render(SettingsView);
    expect(await screen.findByText(/may be lost when your session ends/)).toBeVisible();
    expect(screen.getByText(cause), "the cause should be shown").toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  it("can be retried after a blank window", async () => {
    const host = await startFakeHost();
    host.sandbox = { is: "off", reason: "no_page" };
    render(SettingsView);
    const retry = await screen.findByRole("button", { name: "Try again at the next start" });
    await fireEvent.click(retry);
    expect(await screen.findByText("The next start tries the sandbox again.")).toBeVisible();
    expect(host.sandboxRetries, "one retry should be requested").toBe(1);
    expect(screen.queryByRole("button", { name: "Try again at the next start" })).toBeNull();
  });
});

describe("the desktop", () => {
  it("is hidden in a browser", async () => {
    await startFakeHost();
    render(SettingsView);
    await screen.findByRole("heading", { name: "Files" });
    expect(screen.queryByRole("heading", { name: "Window and background" })).toBeNull();
  });

  it("stores the action on closing the window", async () => {
    const host = await startFakeHost();
    host.desktop = { hasTray: true, loginStart: { is: "off" }, links: { is: "off" } };
    render(SettingsView);
    const background = await screen.findByRole("radio", { name: "Keep running in the background" });
    expect(
      screen.getByRole("radio", { name: "Ask" }),
      "the app should ask by default",
    ).toBeChecked();
    expect(screen.getByText(/icon in the tray/), "the tray should be mentioned").toBeVisible();
    await fireEvent.click(background);
    expect(host.requests("set_settings"), "only the action should be changed").toEqual([
      { ...host.snapshot.settings, onClose: "background" },
    ]);
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  it("sets the start at login", async () => {
    const host = await startFakeHost();
    host.desktop = { hasTray: false, loginStart: { is: "off" }, links: { is: "off" } };
    render(SettingsView);
    const box = await screen.findByRole("checkbox", { name: "Start Drawbridge when you log in" });
    expect(box, "the start at login should be disabled by default").not.toBeChecked();
    expect(
      screen.getByText(/This desktop has no tray/),
      "the missing tray should be mentioned",
    ).toBeVisible();
    host.desktop = { hasTray: false, loginStart: { is: "on" }, links: { is: "off" } };
    await fireEvent.click(box);
    expect(host.loginStarts, "the start at login should be enabled").toEqual([true]);
    await waitFor(() =>
      expect(
        screen.getByRole("checkbox", { name: "Start Drawbridge when you log in" }),
        "the state of the system should be shown",
      ).toBeChecked(),
    );
  });

  it("explains why the app can't start at login", async () => {
    const cause = "This package of Drawbridge can't start at login.";
    (await startFakeHost()).desktop = {
      ...{ hasTray: true, links: { is: "off" } },
      loginStart: { is: "unavailable", cause },
    };
    render(SettingsView);
    expect(await screen.findByText(cause), "the cause should be shown").toBeVisible();
    expect(
      screen.getByRole("checkbox", { name: "Start Drawbridge when you log in" }),
      "the box should be disabled",
    ).toBeDisabled();
  });

  it("shows the state of the system when the change is refused", async () => {
    const host = await startFakeHost();
    host.desktop = { hasTray: true, loginStart: { is: "off" }, links: { is: "off" } };
    host.setLoginStart = () => Promise.reject("autostart can't be written: read-only");
    render(SettingsView);
    const name = "Start Drawbridge when you log in";
    await fireEvent.click(await screen.findByRole("checkbox", { name }));
    expect(await screen.findByText(/read-only/), "the cause should be shown").toBeVisible();
    await waitFor(() => expect(screen.getByRole("checkbox", { name })).not.toBeChecked());
  });
});

describe("links of other apps", () => {
  const NAME = "Open drawbridge: links with this app";

  it("are handled by the app once enabled, until disabled", async () => {
    const host = await startFakeHost();
    host.desktop = { hasTray: true, loginStart: { is: "off" }, links: { is: "off" } };
    render(SettingsView);
    const box = await screen.findByRole("checkbox", { name: NAME });
    expect(box, "links should be disabled by default").not.toBeChecked();
    host.desktop = { hasTray: true, loginStart: { is: "off" }, links: { is: "on" } };
    await fireEvent.click(box);
    await waitFor(() => expect(screen.getByRole("checkbox", { name: NAME })).toBeChecked());
    await fireEvent.click(screen.getByRole("checkbox", { name: NAME }));
    await waitFor(() => expect(host.linkHandlers).toEqual([true, false]));
  });

  it("can't be enabled without support of the system, with the cause", async () => {
    const cause = "On this system an app can't enable or disable links.";
    (await startFakeHost()).desktop = {
      ...{ hasTray: true, loginStart: { is: "off" } },
      links: { is: "unavailable", cause },
    };
    render(SettingsView);
    expect(await screen.findByText(cause)).toBeVisible();
    expect(screen.getByRole("checkbox", { name: NAME })).toBeDisabled();
  });
});

describe("rules", () => {
  const grant = { server: "files", conversation: null, expiresAt: null };
  const grants: Grant[] = [
    { ...grant, id: "g1", tool: null, scope: "always", since: 1, boundHash: "abc" },
    { ...grant, id: "g2", tool: "write_file", scope: "session", since: 2, boundHash: "def" },
  ];

  it("E24: lists every grant and revokes one at once", async () => {
    let remaining = grants;
    const host = await startFakeHost({
      read_policy: () => emptyPolicy,
      list_grants: () => ({ grants: remaining }),
      revoke_grant: ({ id }) => {
        remaining = remaining.filter((g) => g.id !== id);
        return {};
      },
    });
    render(RulesView);
    const row = (await screen.findByText("Tool write_file")).closest("li") as HTMLElement;
    expect(
      within(row).getByText("Until Drawbridge closes"),
      "the temporary grant should be labeled",
    ).toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await fireEvent.click(within(row).getByRole("button", { name: /^Revoke/ }));
    expect(screen.queryByRole("alertdialog"), "there should be no confirmation").toBeNull();
    expect(
      await within(row).findByText("Revoked"),
      "the grant should be marked as revoked",
    ).toBeVisible();
    expect(host.requests("revoke_grant"), "exactly this grant should be revoked").toEqual([
      { id: "g2" },
    ]);
  });

  it("E24: a second click revokes no other grant, before or after the response", async () => {
    let remaining = grants;
    let answer = () => {};
    const host = await startFakeHost({
      read_policy: () => emptyPolicy,
      list_grants: () => ({ grants: remaining }),
      revoke_grant: ({ id }) => {
        remaining = remaining.filter((g) => g.id !== id);
        return new Promise((done) => (answer = () => done({})));
      },
    });
    render(RulesView);
    const first = (await screen.findByText("Starting the server")).closest("li");
    const button = within(first as HTMLElement).getByRole("button");
    button.focus();
    await fireEvent.click(button);
    await fireEvent.click(button);
    expect(
      host.requests("revoke_grant"),
      "one request should be sent until the response",
    ).toHaveLength(1);
    answer();
    const confirmation = await within(first as HTMLElement).findByText("Revoked");
    await waitFor(() =>
      expect(
        confirmation,
        "the confirmation should be focused instead of the next button",
      ).toHaveFocus(),
    );
    const list = screen.getByRole("list", { name: "Allowed without asking" });
    const rows = within(list)
      .getAllByRole("listitem")
      .map((row) => row.textContent);
    expect(rows[0], "the revoked grant should keep its position").toMatch(
      /Starting the server.*Revoked/s,
    );
    expect(rows[1]).toMatch(/write_file/);
    expect(host.requests("revoke_grant")).toEqual([{ id: "g1" }]);
  });

  it("names the URL for a remote server", async () => {
    const config: ServerConfig = {
      ...{ type: "http", url: "https://mcp.example.com/", headers: [], kind: null, revision: null },
      auth: null,
    };
    await startFakeHost(
      { read_policy: () => emptyPolicy, list_grants: () => ({ grants }) },
      { servers: [sampleServer({ config })] },
    );
    render(RulesView);
    expect(
      await screen.findByText("Connecting to the server"),
      "the action should be described",
    ).toBeVisible();
    expect(
      screen.queryByText("Starting the server"),
      "a remote server should not be described as started",
    ).toBeNull();
  });

  it("shows that every call requires consent", async () => {
    await startFakeHost({ read_policy: () => emptyPolicy, list_grants: () => ({ grants: [] }) });
    render(RulesView);
    expect(
      await screen.findByText("Everything needs your approval"),
      "the empty state should be shown",
    ).toBeInTheDocument();
  });
});

describe("settings", () => {
  it("are changed one by one and keep the others", async () => {
    const host = await startFakeHost({ read_secrets_status: () => ({ is: "keychain" }) });
    render(SettingsView);
    await fireEvent.click(screen.getByRole("radio", { name: "Dark" }));
    expect(host.requests("set_settings"), "only the theme should be changed").toEqual([
      { ...host.snapshot.settings, theme: "dark" },
    ]);
    expect(
      screen.getByText(host.snapshot.paths.audit),
      "the path of the log should be shown",
    ).toBeInTheDocument();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  it("show why they were not saved", async () => {
    await startFakeHost({
      read_secrets_status: () => ({ is: "keychain" }),
      set_settings: () => {
        throw { code: "system", message: "disk full" };
      },
    });
    render(SettingsView);
    await fireEvent.click(screen.getByRole("checkbox", { name: /Notify me about requests/ }));
    expect((await screen.findByRole("alert")).textContent, "the cause should be shown").toContain(
      "disk full",
    );
  });

  it("E31: keep the selected value while events are late", async () => {
    const host = await startFakeHost();
    const { settings } = host.snapshot;
    render(SettingsView);
    const dark = screen.getByRole("radio", { name: "Dark" });
    const chinese = screen.getByRole("radio", { name: "简体中文" });
    vi.useFakeTimers();
    await fireEvent.click(dark);
    await settle();
    expect(host.requests("set_settings").length, "the change should be saved").toBe(1);
    expect(dark, "the response should not revert the selection").toBeChecked();
    await fireEvent.click(chinese);
    await settle();
    expect(host.requests("set_settings")[1], "both changes should be sent").toEqual({
      ...{ ...settings, theme: "dark", language: "zh" },
    });
    host.send({ type: "settings_changed", settings: { ...settings, theme: "dark" } });
    await settle();
    expect(chinese, "an event about the first change should not revert the second").toBeChecked();
    host.send({
      type: "settings_changed",
      settings: { ...settings, theme: "dark", language: "zh" },
    });
    host.send({ type: "settings_changed", settings });
    await settle();
    expect(dark, "a later change should be applied to the theme").not.toBeChecked();
    expect(chinese, "a later change should be applied to the language").not.toBeChecked();
  });

  it("E31: keep the clicked state of a checkbox when they are rendered again before it is saved", async () => {
    let answer = () => {};
    const host = await startFakeHost({
      set_settings: () => new Promise((done) => (answer = () => done({}))),
    });
    const { settings } = host.snapshot;
    render(SettingsView);
    const box = screen.getByRole("checkbox", { name: /Notify me about requests/ });
    expect(box).toBeChecked();
    vi.useFakeTimers();
    await fireEvent.click(box);
    host.send({ type: "settings_changed", settings: { ...settings, theme: "dark" } });
    await settle();
    expect(screen.getByRole("radio", { name: "Dark" }), "another change is rendered").toBeChecked();
    expect(box, "an event about another setting should not undo the click").not.toBeChecked();
    answer();
    await settle();
    expect(box, "the response should not undo the click").not.toBeChecked();
  });

  it("revert to the effective value when saving failed", async () => {
    await startFakeHost({
      set_settings: () => {
        throw { code: "system", message: "disk full" };
      },
    });
    render(SettingsView);
    await fireEvent.click(screen.getByRole("radio", { name: "Dark" }));
    await fireEvent.click(screen.getByRole("checkbox", { name: /Notify me about requests/ }));
    await screen.findByRole("alert");
    await waitFor(() =>
      expect(
        screen.getByRole("radio", { name: "Light" }),
        "the theme should be reverted",
      ).toBeChecked(),
    );
    await waitFor(() =>
      expect(
        screen.getByRole("checkbox", { name: /Notify me about requests/ }),
        "the box should be reverted",
      ).toBeChecked(),
    );
  });

  it.each([
    ["locked", /is locked/, /Unlock the keychain/],
    ["missing", /No keychain is available/, /GNOME Keyring or KWallet/],
    ["broken", /can't be used/, /Fix the problem below/],
  ] as const)("explain a keychain that is %s, and check it again", async (is, what, next) => {
    let status: SecretsStatus = { is, cause: "said by the system" };
    await startFakeHost({ read_secrets_status: () => status });
    render(SettingsView);
    expect(await screen.findByText(what), "the problem should be shown").toBeVisible();
    expect(screen.getByText(next), "the remedy should be shown").toHaveTextContent(
      "when Drawbridge closes",
    );
    expect(screen.getByText("said by the system"), "the cause should be shown").toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    status = { is: "keychain" };
    await fireEvent.click(screen.getByRole("button", { name: "Check again" }));
    expect(
      await screen.findByText(/^Encrypted on this computer/),
      "the keychain should be shown as available",
    ).toBeVisible();
    expect(screen.queryByText(what), "the problem should be removed").toBeNull();
  });

  it.each([
    ["encrypted", { is: "encrypted" }, /^Encrypted\./],
    ["plain", { is: "plain" }, /^Not encrypted\./],
    ["unreadable", { is: "unreadable", cause: "another key" }, /another key/],
  ] as const)("show that stored contents are %s", async (_, at, words) => {
    await startFakeHost({
      read_content_protection: () => ({ conversations: at, decisions: { is: "plain" } }),
    });
    render(SettingsView);
    const section = await screen.findByRole("region", {
      name: "Conversations and decisions on disk",
    });
    expect(
      (await within(section).findAllByText(words))[0],
      "the encryption should be described",
    ).toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  it("explain why it is unknown whether secrets are stored", async () => {
    await startFakeHost({
      read_secrets_status: () => {
        throw { code: "internal", message: "the host is busy" };
      },
    });
    render(SettingsView);
    expect((await screen.findByRole("alert")).textContent, "the cause should be shown").toContain(
      "the host is busy",
    );
  });
});
