import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, test, vi } from "vitest";

import App from "../App.svelte";
import type { Server } from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import {
  NO_EXPIRY,
  REVIEWED_DEFINITION,
  refusedStart,
  sampleConversation,
  sampleServer,
  startFakeHost,
} from "$lib/testing/fake-host";

import { rememberedState } from "../tools/remembered-inputs.svelte";
import { overlay } from "./overlay.svelte";

// Preloaded, so that the tests do not wait for it.
await import("./CommandPalette.svelte");
await import("./Shortcuts.svelte");
await import("../conversation/ConversationView.svelte");
await import("../other-apps/ImportView.svelte");

const user = userEvent.setup();
const settings = {
  ...({ theme: "light", language: "en", welcomeDone: false, announce: true } as const),
  ...{ auditDays: 0, auditMegabytes: 1000, auditContents: true, onClose: "ask" as const },
  ...{ checkUpdates: false, zoom: 100, menuBar: false },
};
const demo = sampleServer({ name: "demo", state: { is: "stopped" }, approved: false });
const trip = { id: "c1", title: "Trip plan", updatedAt: 0 };

beforeEach(() => {
  history.replaceState(null, "", "#/welcome");
  router.current = { at: "welcome" };
  overlay.palette = overlay.shortcuts = overlay.left = false;
});

describe("the welcome", () => {
  test("explains three steps and starts the demo server on request only", async () => {
    const host = await startFakeHost({}, { servers: [demo], settings });
    render(App);
    const steps = within(screen.getByRole("main")).getAllByRole("listitem");
    expect(
      steps.map((step) => within(step).getByRole("heading").textContent),
      "the steps should be listed",
    ).toEqual(["Start a server", "Check its exact command or address", "Approve or deny"]);
    expect(host.commands, "nothing should be done automatically").toEqual([]);
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.click(screen.getByRole("button", { name: "Start the demo server" }));
    expect(host.requests("start_server"), "the demo should start").toEqual([{ server: "demo" }]);
    expect(host.requests("set_settings")[0]?.welcomeDone, "the welcome should be done").toBe(true);
    expect(router.current, "a tool of the server should be opened").toMatchObject({
      ...{ at: "server", name: "demo", tab: "tools", item: "add" },
    });
    expect(rememberedState("demo", "add").value, "E2: the form should be filled in").toEqual({
      a: 2,
      b: 3,
    });
  });

  test("scans other apps on request, and offers that until the user has a server", async () => {
    const none = { searchedApps: ["Cursor"], apps: [], needsWorkspace: false, problems: [] };
    const host = await startFakeHost(
      { find_import_candidates: () => none },
      { servers: [demo], settings },
    );
    render(App);
    const offer = within(screen.getByRole("region", { name: "Servers set up in other apps?" }));
    expect(host.commands, "nothing should be read automatically").toEqual([]);
    await user.click(offer.getByRole("button", { name: "Search for servers" }));
    expect(router.current.at).toBe("import");
    expect(await screen.findByText("No servers found in other apps")).toBeVisible();
    expect(host.requests("find_import_candidates").length, "one click should start one scan").toBe(
      1,
    );
    router.go({ at: "welcome" });
    host.send({ type: "server_changed", server: sampleServer({ name: "own" }) });
    await screen.findByRole("button", { name: "Add your own server" });
    expect(
      screen.queryByText("Servers set up in other apps?"),
      "the offer should be removed once there is a server",
    ).toBeNull();
  });

  test("links to adding a server, and can be closed", async () => {
    const host = await startFakeHost({}, { settings });
    render(App);
    expect(screen.queryByText("Try the demo server"), "a missing demo should be hidden").toBeNull();
    await user.click(screen.getByRole("button", { name: "Don't show this at startup" }));
    expect(host.requests("set_settings").length, "closing should be stored").toBe(1);
    await user.click(screen.getByRole("button", { name: "Add your own server" }));
    expect(router.current.at, "the view to add a server should be opened").toBe("add-server");
  });
});

describe("the first view", () => {
  test.each([
    ["the welcome until it was closed", { settings, conversations: [trip] }, { at: "welcome" }],
    ["the latest conversation", { conversations: [trip] }, { at: "conversation", id: "c1" }],
    ["a server without conversations", { servers: [demo] }, { at: "server", name: "demo" }],
  ])("is %s", async (_name, snapshot, view) => {
    history.replaceState(null, "", location.pathname);
    await startFakeHost({}, snapshot);
    render(App);
    await waitFor(() => expect(router.current, "the view should be selected").toMatchObject(view));
  });
});

describe("the window", () => {
  test("renders the content, language and theme of the settings before the first paint", async () => {
    const host = await startFakeHost(
      {},
      { settings: { ...settings, language: "zh", theme: "dark" } },
    );
    const painted = vi.fn();
    host.painted = painted;
    render(App);
    await waitFor(() => expect(painted, "one paint should be reported").toHaveBeenCalledTimes(1));
    expect(document.documentElement.lang, "screen readers should use the language").toBe("zh-Hans");
    expect(document.documentElement.dataset.theme, "the theme should be dark").toBe("dark");
    expect(screen.getByRole("heading", { name: "服务器" }), "text should be Chinese").toBeVisible();
    host.send({ type: "settings_changed", settings });
    expect(
      await screen.findByRole("heading", { name: "Servers" }),
      "a changed language should be applied at once",
    ).toBeVisible();
  });

  test("notifies the host when the network is back, while it is mounted", async () => {
    const host = await startFakeHost({ report_network_available: () => ({}) });
    const { unmount } = render(App);
    dispatchEvent(new Event("offline"));
    expect(
      host.requests("report_network_available"),
      "an offline window should report nothing",
    ).toEqual([]);
    dispatchEvent(new Event("online"));
    expect(host.requests("report_network_available"), "the network should be reported").toEqual([
      {},
    ]);
    unmount();
    dispatchEvent(new Event("online"));
    expect(
      host.requests("report_network_available"),
      "a removed page should not report it",
    ).toHaveLength(1);
  });

  test("groups many servers by state, and remembers collapsed groups", async () => {
    const states: Server["state"][] = [
      ...[{ is: "ready" as const }, { is: "stopped" as const }],
      { is: "needs_sign_in", cause: "401", signingIn: false },
    ];
    const servers = Array.from({ length: 21 }, (_, i) =>
      sampleServer({ name: `server-${i}`, state: states[i % 3]! }),
    );
    const host = await startFakeHost({}, { servers });
    const { unmount } = render(App);
    const group = (name: RegExp) =>
      within(screen.getByRole("navigation")).getByRole("button", { name });
    const links = () =>
      within(screen.getByRole("navigation")).queryAllByRole("link", { name: /^server-/ });
    const buttons = [/^Needs attention 7$/, /^Running 7$/, /^Stopped 7$/].map(group);
    expect(buttons.map((button) => button.getAttribute("aria-expanded"))).toEqual(
      Array(3).fill("true"),
    );
    const denied = sampleServer({ name: "server-2", state: refusedStart("denied_by_user") });
    host.send({ type: "server_changed", server: denied });
    const moved = await within(screen.getByRole("navigation")).findByRole("button", {
      name: /^Stopped 8$/,
    });
    expect(moved, "a server whose start the user denied is stopped").toBeVisible();
    host.send({ type: "server_changed", server: servers[2]! });
    await waitFor(() => group(/^Stopped 7$/));
    expect(links(), "all servers should be listed").toHaveLength(21);
    expect(links()[0], "servers that need the user should be first").toHaveTextContent("server-2");
    await user.click(group(/^Stopped/));
    expect(links(), "stopped servers should be collapsed").toHaveLength(14);
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.type(screen.getByRole("searchbox", { name: "Search servers" }), "server-1");
    expect(
      links().some((link) => link.textContent.includes("server-1")),
      "the search should include collapsed servers",
    ).toBe(true);
    unmount();
    render(App);
    expect(group(/^Stopped/), "it should stay collapsed").toHaveAttribute("aria-expanded", "false");
  });

  test("does not group a few servers", async () => {
    await startFakeHost(
      {},
      { servers: Array.from({ length: 20 }, (_, i) => sampleServer({ name: `s${i}` })) },
    );
    render(App);
    const left = within(screen.getByRole("navigation"));
    expect(left.getAllByRole("link", { name: /^s\d/ })).toHaveLength(20);
    expect(left.queryByRole("button", { name: /^Running/ })).toBeNull();
  });

  test("lists conversations and servers with their state and consent requests", async () => {
    const host = await startFakeHost(
      {
        create_conversation: ({ title }) => sampleConversation({ id: "new", title }),
        read_conversation: () => sampleConversation({ id: "new", title: "Nothing said yet" }),
      },
      { servers: [demo, sampleServer({ name: "git" })], conversations: [trip] },
    );
    render(App);
    const left = within(screen.getByRole("navigation"));
    expect(left.getByRole("link", { name: "demo stopped" }), "state should be shown").toBeVisible();
    host.send({
      type: "consent_request_changed",
      consentRequest: {
        id: "q",
        hash: "h",
        server: "git",
        transport: "stdio",
        commandLine: "git",
        askedAt: 0,
        origin: { by: "server" },
        round: null,
        body: { kind: "roots" },
        scopes: ["once"],
        reason: "",
        marks: REVIEWED_DEFINITION.marks,
      },
    });
    expect(
      await left.findByRole("link", { name: "git 1 request is waiting ready" }),
      "the pending requests of the server should be counted",
    ).toBeVisible();
    host.send({
      type: "server_changed",
      server: sampleServer({ name: "git", unreviewed: { new: 20, changed: 0 } }),
    });
    await waitFor(() => expect(app.server("git")?.unreviewed?.new).toBe(20));
    expect(
      left.getByRole("link", { name: "git 1 request is waiting ready" }),
      "reviews should wait while a request does",
    ).toBeVisible();
    expect(
      screen.getByRole("button", { name: "Approvals (1)" }),
      "all pending requests should be counted",
    ).toBeInTheDocument();
    host.send({ type: "consent_request_closed", id: "q", outcome: "denied" });
    await user.click(left.getByRole("button", { name: "New conversation" }));
    expect(router.current, "the new conversation should be opened").toEqual({
      at: "conversation",
      id: "new",
    });
    expect(
      await screen.findByRole("heading", { name: "Nothing said yet" }),
      "the conversation should be shown",
    ).toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  test("E30: marks a server with new or changed definitions until they are reviewed", async () => {
    const unreviewed = { new: 2, changed: 1 };
    const host = await startFakeHost({}, { servers: [sampleServer({ unreviewed })], settings });
    render(App);
    const row = () => within(screen.getByRole("link", { name: /files/ }));
    expect(row().getByText("1 changed"), "changed definitions should come first").toBeVisible();
    expect(
      screen.getByRole("link", {
        name: /1 definition changed since you reviewed it. 2 new tools and prompts you have not reviewed yet/,
      }),
      "the accessible name should include all definitions",
    ).toBeVisible();
    host.send({
      type: "server_changed",
      server: sampleServer({ unreviewed: { new: 2, changed: 0 } }),
    });
    expect(await row().findByText("2 new")).toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    host.send({ type: "server_changed", server: sampleServer() });
    await waitFor(() =>
      expect(
        row().queryByText(/new|changed/),
        "the mark should be removed after the review",
      ).toBeNull(),
    );
  });

  test("shows that a server was muted and until when, and undoes it", async () => {
    const host = await startFakeHost({}, { servers: [demo, sampleServer({ name: "git" })] });
    render(App);
    const muted = { name: "git", muted: true };
    const until = new Date(2026, 0, 2, 16, 57).getTime();
    host.send({ type: "server_changed", server: sampleServer({ ...muted, mutedUntil: until }) });
    expect(
      await screen.findByText(/^git is muted until .*4:57/),
      "the mute should be reported",
    ).toBeVisible();
    expect(
      screen.getByRole("link", { name: "git muted ready" }),
      "the mute should be shown next to the name",
    ).toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.click(screen.getByRole("button", { name: "Undo: let git send requests again" }));
    expect(host.requests("unmute_server"), "the mute should be ended").toEqual([{ server: "git" }]);
    host.send({ type: "server_changed", server: sampleServer({ ...muted, mutedUntil: null }) });
    await waitFor(() =>
      expect(
        screen.queryByText(/is muted until/),
        "an unmute by the user should not be reported",
      ).toBeNull(),
    );
  });

  test("renames and deletes a conversation", async () => {
    const host = await startFakeHost({}, { conversations: [trip] });
    render(App);
    const more = screen.getByRole("button", { name: "More for Trip plan" });
    await user.click(more);
    await user.click(await screen.findByRole("menuitem", { name: "Rename" }));
    const title = await screen.findByRole("textbox", { name: "Title" });
    await user.clear(title);
    await user.type(title, "Holiday{Enter}");
    expect(host.requests("rename_conversation"), "the conversation should be renamed").toEqual([
      { conversation: "c1", title: "Holiday" },
    ]);
    await waitFor(() => expect(screen.queryByRole("dialog"), "the dialog should close").toBeNull());
    await user.click(more);
    await user.click(await screen.findByRole("menuitem", { name: "Delete" }));
    const dialog = await screen.findByRole("dialog");
    expect(host.requests("delete_conversation"), "a deletion should need confirmation").toEqual([]);
    await user.click(within(dialog).getByRole("button", { name: "Delete" }));
    expect(host.requests("delete_conversation"), "the conversation should be deleted").toEqual([
      { conversation: "c1" },
    ]);
  });

  test("shows that the settings file is invalid", async () => {
    const host = await startFakeHost();
    render(App);
    host.send({
      type: "config_problem",
      problem: { file: "/x/mcp.json", line: 12, column: 4, message: "expected `,`" },
    });
    const alert = await screen.findByRole("alert");
    expect(alert, "the file should be named").toHaveTextContent("/x/mcp.json");
    expect(alert, "the position should be shown").toHaveTextContent("line 12, column 4");
    expect(alert, "the cause should be shown").toHaveTextContent("expected `,`");
    expect(alert, "the consequence should be shown").toHaveTextContent(
      "Drawbridge uses the previous settings",
    );
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    host.send({ type: "config_problem", problem: null });
    await waitFor(() => expect(screen.queryByRole("alert"), "the alert should close").toBeNull());
  });

  test("shows why the host can't be reached, and retries", async () => {
    const host = await startFakeHost();
    const working = host.call.bind(host);
    host.call = () => Promise.reject({ code: "internal", message: "it broke" });
    app.ready = false;
    await app.refresh();
    render(App);
    expect(screen.getByText("it broke"), "the cause should be shown").toBeVisible();
    host.call = working;
    await user.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByRole("navigation"), "the window should be shown").toBeVisible();
  });
});

describe("keyboard shortcuts", () => {
  test("Ctrl K focuses the search before another key can be pressed", async () => {
    await startFakeHost({}, { conversations: [trip] });
    render(App);
    await vi.dynamicImportSettled();
    await fireEvent.keyDown(document.body, { key: "k", ctrlKey: true });
    expect(screen.getByRole("combobox", { name: "Search or run" })).toHaveFocus();
  });

  test("Ctrl K finds servers, tools, conversations and settings", async () => {
    const host = await startFakeHost(
      {
        read_catalog: ({ server }) => ({
          server,
          tools: [
            {
              name: "write_file",
              title: null,
              description: null,
              inputSchema: {},
              outputSchema: null,
              claims: {
                readOnly: null,
                destructive: null,
                idempotent: null,
                openWorld: null,
                asksEachTime: false,
              },
              icons: [],
              allowed: false,
              ...REVIEWED_DEFINITION,
            },
          ],
          prompts: [],
          resources: [],
          templates: [],
          notes: [],
          freshUntil: NO_EXPIRY,
        }),
      },
      { servers: [sampleServer({ name: "papers" })], conversations: [trip] },
    );
    render(App);
    await user.keyboard("{Control>}k{/Control}");
    const input = await screen.findByRole("combobox", { name: "Search or run" });
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.type(input, "wrfi");
    const option = await screen.findByRole("option", { name: /write_file/ });
    expect(option, "the option should name its server").toHaveTextContent("papers");
    await waitFor(() =>
      expect(option, "the first option should be selected").toHaveAttribute(
        "aria-selected",
        "true",
      ),
    );
    await user.keyboard("{Enter}");
    expect(router.current, "the tool should be opened").toEqual({
      at: "server",
      name: "papers",
      tab: "tools",
      item: "write_file",
    });
    await waitFor(() => expect(screen.queryByRole("dialog"), "it should be closed").toBeNull());
    await user.keyboard("{Control>}k{/Control}");
    await user.type(await screen.findByRole("combobox", { name: "Search or run" }), "trip");
    await screen.findByRole("option", { name: "Trip plan" });
    await user.keyboard("{Enter}");
    expect(router.current, "the conversation should be opened").toEqual({
      at: "conversation",
      id: "c1",
    });
    await waitFor(() => expect(screen.queryByRole("dialog"), "it should be closed").toBeNull());
    await user.keyboard("{Control>}k{/Control}");
    await user.type(await screen.findByRole("combobox", { name: "Search or run" }), "dark");
    await screen.findByRole("option", { name: "Theme: dark" });
    await user.keyboard("{Enter}");
    expect(host.requests("set_settings")[0]?.theme, "the setting should be changed").toBe("dark");
  });

  test("? lists the shortcuts, except while the user types", async () => {
    await startFakeHost({}, { settings });
    render(App);
    await user.keyboard("?");
    expect(await screen.findByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.keyboard("{Escape}");
    await waitFor(() => expect(screen.queryByRole("dialog"), "Escape should close it").toBeNull());
    await user.click(screen.getByRole("link", { name: "Add a server" }));
    await user.type(await screen.findByRole("textbox", { name: /README/ }), "?");
    expect(screen.queryByRole("dialog"), "a question mark should be typed").toBeNull();
  });
});
