import { render, screen, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";

import type { ActivityEntry, Server } from "$lib/api/generated";
import { details } from "$lib/state/details.svelte";
import { axeProblems } from "$lib/testing/axe";
import { sampleServer, startFakeHost, type FakeHost } from "$lib/testing/fake-host";

import ActivityPane from "./ActivityPane.svelte";
import ActivityTab from "./ActivityTab.svelte";
import EntryView from "./EntryView.svelte";

const BASE: ActivityEntry = {
  ...{ seq: 0, at: 1_700_000_000_000, kind: "request", sent: true, method: null, id: null },
  ...{ bytes: 1234, latency: null, preview: "", note: null },
};
const ENTRIES: ActivityEntry[] = [
  { ...BASE, seq: 1, kind: "state", preview: "started" },
  { ...BASE, seq: 2, method: "tools/list", id: "1" },
  { ...BASE, seq: 3, kind: "response", sent: false, method: "tools/list", id: "1", latency: 12.3 },
  {
    ...BASE,
    seq: 4,
    kind: "invalid",
    sent: false,
    preview: "Hello from a banner",
    note: "not JSON",
  },
  { ...BASE, seq: 5, kind: "stderr", sent: false, preview: "warning: old" },
];

let host: FakeHost;
let number = 0;
let server: Server;
beforeEach(async () => {
  server = sampleServer({ name: `active${(number += 1)}` });
  details.close();
  host = await startFakeHost(
    {
      read_activity: ({ after }) => ({
        entries: ENTRIES.filter((e) => e.seq > (after ?? 0)),
        dropped: 0,
      }),
      read_activity_message: ({ seq }) => ({
        text: seq === 4 ? "Hello from a banner" : '{"jsonrpc":"2.0","method":"tools/list"}',
        truncated: false,
        redacted: false,
      }),
      export_activity: () => ({ path: "/home/ann/activity.jsonl" }),
    },
    { servers: [server] },
  );
});

/**
 * Returns queries within the activity list. The filter controls contain options too, so a query of the screen is
 * ambiguous.
 */
const list = async () => within(await screen.findByTestId("activity-list"));
const rows = () => within(screen.getByTestId("activity-list")).queryAllByRole("option");

test("shows every message in order with its direction", async () => {
  render(ActivityTab, { server });
  await (await list()).findAllByRole("option");
  expect(rows(), "all messages should be listed").toHaveLength(5);
  expect(rows()[1], "a request should be labeled").toHaveTextContent(
    /sent\s*request\s*tools\/list/,
  );
  expect(rows()[2], "a response should show its size and latency").toHaveTextContent(
    /received\s*response.*1\.2 kB\s*12 ms/,
  );
  expect(rows()[3], "an invalid message should show the reason").toHaveTextContent(
    /invalid.*Hello from a banner.*not JSON/,
  );
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
});

test("filters by kind and by search text", async () => {
  const user = userEvent.setup();
  render(ActivityTab, { server });
  await (await list()).findAllByRole("option");
  await user.click(screen.getByRole("button", { name: /^Messages/ }));
  expect(rows(), "only log messages and other output should remain").toHaveLength(3);
  await user.type(screen.getByRole("searchbox"), "banner");
  expect(rows(), "only messages with the search text should remain").toHaveLength(1);
});

test("E22: lists each log message once, filtered by severity and text, and sets the server's log level", async () => {
  const user = userEvent.setup();
  const notification = {
    ...BASE,
    sent: false,
    kind: "notification",
    method: "notifications/message",
  };
  const logEntry = { ...BASE, sent: false, kind: "log" } as const;
  host.answers.read_activity = () => ({
    entries: [
      { ...notification, seq: 1, kind: "notification", preview: '{"level":"debug"}' },
      { ...logEntry, seq: 2, method: "debug · disk", preview: "read a block" },
      { ...notification, seq: 3, kind: "notification", preview: '{"level":"error"}' },
      { ...logEntry, seq: 4, method: "error", preview: "the disk is gone" },
      { ...logEntry, seq: 5, method: "loud", preview: "of no level" },
    ],
    dropped: 0,
  });
  const logs = sampleServer({ name: server.name, capabilities: ["logging"] });
  render(ActivityTab, { server: logs });
  expect(
    await (await list()).findAllByRole("option"),
    "each log message should be listed once",
  ).toHaveLength(3);
  expect(screen.getByRole("button", { name: /^Messages/ })).toHaveTextContent("Messages 0");
  const shown = screen.getByRole("combobox", { name: "Show log messages" });
  await user.selectOptions(shown, "warning and above");
  expect(
    rows().map((row) => row.textContent),
    "the list should be filtered by severity, but always include messages without a level",
  ).toEqual([expect.stringContaining("disk is gone"), expect.stringContaining("no level")]);
  await user.type(screen.getByRole("searchbox"), "gone");
  expect(rows(), "the list should be filtered by the search text").toHaveLength(1);
  await user.selectOptions(
    screen.getByRole("combobox", { name: "Minimum level that the server sends" }),
    "warning",
  );
  expect(host.requests("set_log_level")).toEqual([{ server: server.name, level: "warning" }]);
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  await user.clear(screen.getByRole("searchbox"));
  await user.click(screen.getByRole("button", { name: /^Log/ }));
  expect(rows(), "the notifications should be listed as they were received").toHaveLength(2);
  expect(screen.queryByRole("combobox", { name: "Show log messages" })).toBeNull();
});

test("opens a message next to the list by keyboard, and closes it with the tab", async () => {
  const user = userEvent.setup();
  const { unmount } = render(ActivityTab, { server });
  await (await list()).findAllByRole("option");
  screen.getByTestId("activity-list").focus();
  await user.keyboard("{ArrowDown}{Enter}");
  expect(details.current?.props.entry, "the second message should be opened").toEqual(ENTRIES[1]);
  expect(rows()[1], "the opened message should be marked").toHaveAttribute("aria-selected", "true");
  unmount();
  expect(details.current, "the details should close together with the tab").toBe(null);
});

test("exports to a file that the user picks", async () => {
  const user = userEvent.setup();
  render(ActivityTab, { server });
  await user.click(screen.getByRole("button", { name: "Export…" }));
  expect(host.requests("export_activity"), "the log of this server should be exported").toEqual([
    { server: server.name },
  ]);
  expect(
    await screen.findByText("Saved as /home/ann/activity.jsonl"),
    "the path of the file should be shown",
  ).toBeInTheDocument();
});

test("shows the complete message as JSON and as raw text", async () => {
  const user = userEvent.setup();
  const entry = ENTRIES[1] ?? BASE;
  const { rerender } = render(EntryView, { server: server.name, entry });
  expect(await screen.findByText(/jsonrpc/), "JSON should be shown as a tree").toBeInTheDocument();
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  await user.click(screen.getByRole("button", { name: "Raw" }));
  expect(
    screen.getByText('{"jsonrpc":"2.0","method":"tools/list"}'),
    "the raw text should be shown",
  ).toBeInTheDocument();
  await rerender({ server: server.name, entry: ENTRIES[3] ?? BASE });
  expect(
    await screen.findByText("Hello from a banner"),
    "output that is not JSON should be shown",
  ).toBeInTheDocument();
  expect(screen.getByText("not JSON"), "the reason should be shown").toBeInTheDocument();
  host.answers.read_activity_message = () =>
    Promise.reject({ code: "not_found", message: "let go" });
  await rerender({ server: server.name, entry: { ...entry, seq: 9 } });
  expect(
    await screen.findByText("let go"),
    "the error for an expired message should be shown",
  ).toBeInTheDocument();
});

test("the pane follows the server, and an opened message has a back button", async () => {
  const user = userEvent.setup();
  render(ActivityPane, { server: server.name });
  await user.click((await screen.findAllByRole("option"))[2] as HTMLElement);
  expect(details.current?.component, "the message should replace the pane").toBe(EntryView);
  (details.current?.props.onback as () => void)();
  expect(details.current, "the pane should return to the list").toBeNull();
});

test("shows an empty state before the first entry", async () => {
  host.answers.read_activity = () => ({ entries: [], dropped: 0 });
  render(ActivityTab, { server });
  expect(
    await screen.findByText("No messages yet"),
    "the empty state should be shown",
  ).toBeInTheDocument();
});
