import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";

import App from "../App.svelte";
import { router } from "$lib/state/router.svelte";
import {
  REVIEWED_DEFINITION,
  sampleConversation,
  sampleServer,
  startFakeHost,
  type FakeHost,
} from "$lib/testing/fake-host";

import SettingsView from "../settings/SettingsView.svelte";
import { overlay } from "./overlay.svelte";

// Preloaded, so that the tests do not wait for them.
await import("./Shortcuts.svelte");
await import("../consent/ConsentOverlay.svelte");
await import("../conversation/ConversationView.svelte");

const user = userEvent.setup();

beforeEach(() => {
  history.replaceState(null, "", "#/tools");
  router.current = { at: "tools" };
  overlay.palette = overlay.shortcuts = false;
});

function start(): Promise<FakeHost> {
  return startFakeHost(
    { create_conversation: ({ title }) => sampleConversation({ id: "new", title }) },
    { servers: [sampleServer()] },
  );
}

/** Returns the actions of the newest menu bar that the page has sent. */
function actions(host: FakeHost) {
  return host.menuBars.at(-1)?.actions ?? [];
}

function action(host: FakeHost, id: string) {
  return actions(host).find((one) => one.id === id);
}

test("E11: sends the menu bar in the user's language, and runs what is chosen in it", async () => {
  const host = await start();
  render(App);
  await waitFor(() =>
    expect(action(host, "new-conversation"), "the shortcut should be shown").toEqual({
      ...{ id: "new-conversation", menu: "file", label: "New conversation" },
      ...{ keys: "Mod+N", startsGroup: false, enabled: true },
    }),
  );
  expect(action(host, "activity")?.enabled, "all tools together have no activity").toBe(false);
  const sent = host.menuBars.length;
  host.shell({ type: "action_chosen", action: "new-conversation" });
  await waitFor(() =>
    expect(router.current, "the conversation should be opened").toEqual({
      at: "conversation",
      id: "new",
    }),
  );
  await waitFor(() => expect(action(host, "activity")?.enabled, "as its state changed").toBe(true));
  expect(host.menuBars.length, "an equal menu bar should not be sent again").toBe(sent + 1);
  host.shell({ type: "action_chosen", action: "unheard-of" });
  const settings = { ...host.snapshot.settings, language: "zh" as const };
  host.send({ type: "settings_changed", settings });
  await waitFor(() => expect(action(host, "new-conversation")?.label).toBe("新建对话"));
  expect(host.menuBars.at(-1)?.titles.edit, "the titles should be translated").toBe("编辑");
});

test("runs nothing below a dialog, except the zoom", async () => {
  const host = await start();
  render(App);
  host.shell({ type: "action_chosen", action: "shortcuts" });
  await screen.findByRole("dialog", { name: "Keyboard shortcuts" });
  await waitFor(() => expect(action(host, "new-conversation")?.enabled).toBe(false));
  host.shell({ type: "action_chosen", action: "new-conversation" });
  host.shell({ type: "action_chosen", action: "zoom-in" });
  await waitFor(() => expect(host.requests("set_settings")[0]?.zoom, "zoomed").toBe(110));
  expect(host.requests("create_conversation"), "no conversation should be created").toEqual([]);
});

test("has no action that decides a consent request, and none but the zoom while one is open", async () => {
  const host = await start();
  render(App);
  host.send({
    type: "consent_request_changed",
    consentRequest: {
      ...{ id: "q", hash: "h", server: "files", transport: "stdio", commandLine: "files" },
      ...{
        askedAt: 0,
        origin: { by: "user", conversation: null },
        round: null,
        reason: "",
        scopes: ["once"],
      },
      body: { kind: "roots" },
      marks: REVIEWED_DEFINITION.marks,
    },
  });
  await screen.findByTestId("consent-request");
  await waitFor(() =>
    expect(
      actions(host)
        .filter(({ enabled }) => enabled)
        .map(({ id }) => id),
      "only the zoom should be enabled",
    ).toEqual(["zoom-in", "zoom-out"]),
  );
  for (const { id } of actions(host)) host.shell({ type: "action_chosen", action: id });
  await waitFor(() => expect(host.requests("set_settings"), "zoomed").not.toEqual([]));
  expect(
    host.commands.filter(({ name }) => /decide|deny|approve/.test(name)),
    "the request should still wait",
  ).toEqual([]);
  expect(router.current, "no view should be opened below the request").toEqual({ at: "tools" });
});

test("is shown by F10 and by a setting, where it can be hidden", async () => {
  const host = await start();
  const { unmount } = render(App);
  await waitFor(() => expect(host.menuBars.at(-1)?.shown, "it should be hidden").toBe(false));
  await user.keyboard("{F10}");
  await waitFor(() => expect(host.requests("set_settings")[0]?.menuBar).toBe(true));
  unmount();
  render(SettingsView);
  const field = screen.getByRole("checkbox", { name: "Show menu bar" });
  await user.click(field);
  await waitFor(() => expect(host.requests("set_settings").length).toBe(2));
  host.menuBar = "always";
  render(SettingsView);
  expect(
    screen.getAllByRole("checkbox", { name: "Show menu bar" }),
    "a Mac always shows it",
  ).toHaveLength(1);
});
