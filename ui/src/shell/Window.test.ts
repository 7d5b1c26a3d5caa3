import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import App from "../App.svelte";
import type { Server } from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";
import { details } from "$lib/state/details.svelte";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import {
  NO_EXPIRY,
  REVIEWED_DEFINITION,
  sampleConversation,
  sampleServer,
  startFakeHost,
} from "$lib/testing/fake-host";

import StateMark from "$lib/ui/StateMark.svelte";

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
  ...{ checkUpdates: false, zoom: 100 },
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
      "what will happen",
    ).toEqual(["Start a server", "Check its exact command or address", "Approve or deny"]);
    expect(host.commands, "nothing happens by itself").toEqual([]);
    expect(await axeProblems(), "axe").toEqual([]);
    await user.click(screen.getByRole("button", { name: "Start the demo server" }));
    expect(host.requests("start_server"), "the demo").toEqual([{ server: "demo" }]);
    expect(host.requests("set_settings")[0]?.welcomeDone, "it does not come again").toBe(true);
    expect(router.current, "a tool of it is in front").toMatchObject({
      ...{ at: "server", name: "demo", tab: "tools", item: "add" },
    });
    expect(rememberedState("demo", "add").value, "E2: filled in").toEqual({ a: 2, b: 3 });
  });

  test("scans other apps on request, and offers that until the user has a server", async () => {
    const none = { lookedFor: ["Cursor"], apps: [], problems: [] };
    const host = await startFakeHost(
      { import_candidates: () => none },
      { servers: [demo], settings },
    );
    render(App);
    const offer = within(screen.getByRole("region", { name: "Servers set up in other apps?" }));
    expect(host.commands, "nothing is read before").toEqual([]);
    await user.click(offer.getByRole("button", { name: "Search for servers" }));
    expect(router.current.at).toBe("import");
    expect(await screen.findByText("No servers found in other apps")).toBeVisible();
    expect(host.requests("import_candidates").length, "one click, one look").toBe(1);
    router.go({ at: "welcome" });
    host.send({ type: "server_changed", server: sampleServer({ name: "own" }) });
    await screen.findByRole("button", { name: "Add your own server" });
    expect(screen.queryByText("Servers set up in other apps?"), "with an own server").toBeNull();
  });

  test("links to adding a server, and can be closed", async () => {
    const host = await startFakeHost({}, { settings });
    render(App);
    expect(screen.queryByText("Try the demo server"), "no demo, no word of it").toBeNull();
    await user.click(screen.getByRole("button", { name: "Don't show this at startup" }));
    expect(host.requests("set_settings").length, "closed").toBe(1);
    await user.click(screen.getByRole("button", { name: "Add your own server" }));
    expect(router.current.at, "the way to an own server").toBe("add-server");
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
    await waitFor(() => expect(router.current, "where one starts").toMatchObject(view));
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
    await waitFor(() => expect(painted, "said once").toHaveBeenCalledTimes(1));
    expect(document.documentElement.lang, "for readers").toBe("zh-Hans");
    expect(document.documentElement.dataset.theme, "dark").toBe("dark");
    expect(screen.getByRole("heading", { name: "服务器" }), "in Chinese").toBeVisible();
    host.send({ type: "settings_changed", settings });
    expect(await screen.findByRole("heading", { name: "Servers" }), "at once").toBeVisible();
  });

  test("notifies the host when the network is back, while it is mounted", async () => {
    const host = await startFakeHost({ network_changed: () => ({}) });
    const { unmount } = render(App);
    dispatchEvent(new Event("offline"));
    expect(host.requests("network_changed"), "nothing without a network").toEqual([]);
    dispatchEvent(new Event("online"));
    expect(host.requests("network_changed"), "told").toEqual([{}]);
    unmount();
    dispatchEvent(new Event("online"));
    expect(host.requests("network_changed"), "by the window").toHaveLength(1);
  });

  test("groups many servers by state, and remembers collapsed groups", async () => {
    const states: Server["state"][] = [
      ...[{ is: "ready" as const }, { is: "stopped" as const }],
      { is: "needs_sign_in", cause: "401", signingIn: false },
    ];
    const servers = Array.from({ length: 21 }, (_, i) =>
      sampleServer({ name: `server-${i}`, state: states[i % 3]! }),
    );
    await startFakeHost({}, { servers });
    const { unmount } = render(App);
    const group = (name: RegExp) =>
      within(screen.getByRole("navigation")).getByRole("button", { name });
    const links = () =>
      within(screen.getByRole("navigation")).queryAllByRole("link", { name: /^server-/ });
    const buttons = [/^Needs attention 7$/, /^Running 7$/, /^Stopped 7$/].map(group);
    expect(buttons.map((button) => button.getAttribute("aria-expanded"))).toEqual(
      Array(3).fill("true"),
    );
    expect(links(), "all are there").toHaveLength(21);
    expect(links()[0], "what needs the user comes first").toHaveTextContent("server-2");
    await user.click(group(/^Stopped/));
    expect(links(), "without those that are stopped").toHaveLength(14);
    expect(await axeProblems(), "axe").toEqual([]);
    await user.type(screen.getByRole("searchbox", { name: "Search servers" }), "server-1");
    expect(
      links().some((link) => link.textContent.includes("server-1")),
      "a search finds those, too",
    ).toBe(true);
    unmount();
    render(App);
    expect(group(/^Stopped/), "as it was left").toHaveAttribute("aria-expanded", "false");
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
        conversation: () => sampleConversation({ id: "new", title: "Nothing said yet" }),
      },
      { servers: [demo, sampleServer({ name: "git" })], conversations: [trip] },
    );
    render(App);
    const left = within(screen.getByRole("navigation"));
    expect(left.getByRole("link", { name: "demo stopped" }), "a shape and a word").toBeVisible();
    host.send({
      type: "question_changed",
      question: {
        id: "q",
        hash: "h",
        server: "git",
        transport: "stdio",
        commandLine: "git",
        askedAt: 0,
        why: { by: "server" },
        round: null,
        body: { kind: "roots", folders: [] },
        scopes: ["once"],
        rule: "",
        marks: REVIEWED_DEFINITION.marks,
      },
    });
    expect(
      await left.findByRole("link", { name: "git 1 request is waiting ready" }),
      "what waits, by server",
    ).toBeVisible();
    expect(screen.getByRole("button", { name: "Approvals (1)" }), "and in all").toBeInTheDocument();
    host.send({ type: "question_closed", id: "q", outcome: "denied" });
    await user.click(left.getByRole("button", { name: "New conversation" }));
    expect(router.current, "the new one is in front").toEqual({ at: "conversation", id: "new" });
    expect(
      await screen.findByRole("heading", { name: "Nothing said yet" }),
      "as it was read",
    ).toBeVisible();
    expect(await axeProblems(), "axe").toEqual([]);
  });

  test("E30: marks a server with new or changed definitions until they are reviewed", async () => {
    const unreviewed = { new: 2, changed: 1 };
    const host = await startFakeHost({}, { servers: [sampleServer({ unreviewed })], settings });
    render(App);
    const row = () => within(screen.getByRole("link", { name: /files/ }));
    expect(row().getByText("1 changed"), "what changed comes first").toBeVisible();
    expect(
      screen.getByRole("link", {
        name: /1 definition changed since you reviewed it. 2 definitions you have not reviewed yet/,
      }),
      "in words for all",
    ).toBeVisible();
    host.send({
      type: "server_changed",
      server: sampleServer({ unreviewed: { new: 2, changed: 0 } }),
    });
    expect(await row().findByText("2 new")).toBeVisible();
    expect(await axeProblems(), "axe").toEqual([]);
    host.send({ type: "server_changed", server: sampleServer() });
    await waitFor(() => expect(row().queryByText(/new|changed/), "reviewed").toBeNull());
  });

  test("shows that a server was muted and until when, and undoes it", async () => {
    const host = await startFakeHost({}, { servers: [demo, sampleServer({ name: "git" })] });
    render(App);
    const muted = { name: "git", muted: true };
    const until = new Date(2026, 0, 2, 16, 57).getTime();
    host.send({ type: "server_changed", server: sampleServer({ ...muted, mutedUntil: until }) });
    expect(await screen.findByText(/^git is muted until .*4:57/), "said in front").toBeVisible();
    expect(
      screen.getByRole("link", { name: "git muted ready" }),
      "and beside its name",
    ).toBeVisible();
    expect(await axeProblems(), "axe").toEqual([]);
    await user.click(screen.getByRole("button", { name: "Undo: let git send requests again" }));
    expect(host.requests("unmute"), "revoked").toEqual([{ server: "git" }]);
    host.send({ type: "server_changed", server: sampleServer({ ...muted, mutedUntil: null }) });
    await waitFor(() =>
      expect(screen.queryByText(/is muted until/), "what the user wished is no news").toBeNull(),
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
    expect(host.requests("rename_conversation"), "renamed").toEqual([
      { conversation: "c1", title: "Holiday" },
    ]);
    await waitFor(() => expect(screen.queryByRole("dialog"), "closed").toBeNull());
    await user.click(more);
    await user.click(await screen.findByRole("menuitem", { name: "Delete" }));
    const dialog = await screen.findByRole("dialog");
    expect(host.requests("delete_conversation"), "not without a confirmation").toEqual([]);
    await user.click(within(dialog).getByRole("button", { name: "Delete" }));
    expect(host.requests("delete_conversation"), "deleted").toEqual([{ conversation: "c1" }]);
  });

  test("shows that the settings file is invalid", async () => {
    const host = await startFakeHost();
    render(App);
    host.send({
      type: "config_problem",
      problem: { file: "/x/mcp.json", line: 12, column: 4, message: "expected `,`" },
    });
    const alert = await screen.findByRole("alert");
    expect(alert, "the file").toHaveTextContent("/x/mcp.json");
    expect(alert, "the place").toHaveTextContent("line 12, column 4");
    expect(alert, "what was expected").toHaveTextContent("expected `,`");
    expect(alert, "what holds").toHaveTextContent("Drawbridge uses the previous settings");
    expect(await axeProblems(), "axe").toEqual([]);
    host.send({ type: "config_problem", problem: null });
    await waitFor(() => expect(screen.queryByRole("alert"), "in order again").toBeNull());
  });

  test("shows why the host can't be reached, and retries", async () => {
    const host = await startFakeHost();
    const working = host.call.bind(host);
    host.call = () => Promise.reject({ code: "internal", message: "it broke" });
    app.ready = false;
    await app.refresh();
    render(App);
    expect(screen.getByText("it broke"), "the reason").toBeVisible();
    host.call = working;
    await user.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByRole("navigation"), "the window").toBeVisible();
  });
});

describe("the outer columns", () => {
  const viewport = (width: number) => {
    (window as unknown as { happyDOM: { setViewport(size: object): void } }).happyDOM.setViewport({
      width,
      height: 600,
    });
  };
  afterEach(() => {
    viewport(1024);
    details.close();
  });

  test("are columns in a wide window", async () => {
    await startFakeHost({}, { servers: [demo] });
    render(App);
    details.show("About demo", StateMark, { state: { is: "ready" } });
    const aside = await screen.findByRole("complementary", { name: "About demo" });
    expect(within(aside).getByText("ready"), "the component with its props").toBeVisible();
    await user.click(within(aside).getByRole("button", { name: "Close details" }));
    expect(screen.queryByRole("complementary"), "closed").toBeNull();
    details.show("About demo", StateMark, { state: { is: "ready" } });
    await user.click(screen.getByRole("link", { name: "demo stopped" }));
    await waitFor(() => expect(details.current, "another view, no old details").toBeNull());
  });

  test("are sheets in a narrow one", async () => {
    viewport(700);
    await startFakeHost({}, { servers: [demo] });
    render(App);
    expect(screen.queryByRole("navigation"), "behind a button").toBeNull();
    await user.click(screen.getByRole("button", { name: "Menu" }));
    const sheet = await screen.findByRole("dialog", { name: "Menu" });
    await user.click(within(sheet).getByRole("link", { name: "demo stopped" }));
    await waitFor(() => expect(screen.queryByRole("navigation"), "closes by itself").toBeNull());
    details.show("About demo", StateMark, { state: { is: "ready" } });
    expect(await screen.findByRole("dialog", { name: "About demo" }), "details too").toBeVisible();
    await user.keyboard("{Escape}");
    await waitFor(() => expect(details.current, "Escape closes").toBeNull());
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
        catalog: ({ server }) => ({
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
    expect(await axeProblems(), "axe").toEqual([]);
    await user.type(input, "wrfi");
    const option = await screen.findByRole("option", { name: /write_file/ });
    expect(option, "with its server").toHaveTextContent("papers");
    await waitFor(() =>
      expect(option, "the first is chosen").toHaveAttribute("aria-selected", "true"),
    );
    await user.keyboard("{Enter}");
    expect(router.current, "the tool is in front").toEqual({
      at: "server",
      name: "papers",
      tab: "tools",
      item: "write_file",
    });
    await waitFor(() => expect(screen.queryByRole("dialog"), "closed").toBeNull());
    await user.keyboard("{Control>}k{/Control}");
    await user.type(await screen.findByRole("combobox", { name: "Search or run" }), "trip");
    await screen.findByRole("option", { name: "Trip plan" });
    await user.keyboard("{Enter}");
    expect(router.current, "a conversation").toEqual({ at: "conversation", id: "c1" });
    await waitFor(() => expect(screen.queryByRole("dialog"), "closed").toBeNull());
    await user.keyboard("{Control>}k{/Control}");
    await user.type(await screen.findByRole("combobox", { name: "Search or run" }), "dark");
    await screen.findByRole("option", { name: "Theme: dark" });
    await user.keyboard("{Enter}");
    expect(host.requests("set_settings")[0]?.theme, "a setting").toBe("dark");
  });

  test("? lists the shortcuts, except while the user types", async () => {
    await startFakeHost({}, { settings });
    render(App);
    await user.keyboard("?");
    expect(await screen.findByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
    expect(await axeProblems(), "axe").toEqual([]);
    await user.keyboard("{Escape}");
    await waitFor(() => expect(screen.queryByRole("dialog"), "Escape closes").toBeNull());
    await user.click(screen.getByRole("link", { name: "Add a server" }));
    await user.type(await screen.findByRole("textbox", { name: /README/ }), "?");
    expect(screen.queryByRole("dialog"), "a question mark is a question mark").toBeNull();
  });
});
