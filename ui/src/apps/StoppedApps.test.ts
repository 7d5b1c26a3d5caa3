import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";

import App from "../App.svelte";
import type { Tool } from "$lib/api/generated";
import { resetPageState } from "$lib/page-state";
import type { AppStopCause, ShellEvent, StoppedAppsReport } from "$lib/platform";
import { axeProblems } from "$lib/testing/axe";
import {
  NO_EXPIRY,
  REVIEWED_DEFINITION,
  sampleServer,
  startFakeHost,
  type FakeHost,
} from "$lib/testing/fake-host";

import AppPanel from "./AppPanel.svelte";
import { stoppedApps } from "./stopped-apps.svelte";

const TOOL: Tool = {
  ...{ name: "chart", title: null, description: null, outputSchema: null, icons: [] },
  inputSchema: { type: "object" },
  claims: {
    ...{ readOnly: null, destructive: null, idempotent: null, openWorld: null },
    asksEachTime: false,
  },
  allowed: false,
  ...REVIEWED_DEFINITION,
  others: { _meta: { ui: { resourceUri: "ui://files/chart" } } },
};
const lists = { server: "files", prompts: [], resources: [], templates: [], notes: [] };
const reportOf = (id: number, cause: AppStopCause, ...tools: string[]): StoppedAppsReport => ({
  id,
  apps: tools.map((tool) => ({ server: "files", tool })),
  cause,
});
const stopped = (...reports: StoppedAppsReport[]): ShellEvent => ({
  type: "stopped_apps_changed",
  reports,
  withheld: ["files"],
});

const user = userEvent.setup();
let host: FakeHost;

beforeEach(async () => {
  history.replaceState(null, "", `${location.pathname}#/`);
  resetPageState();
  host = await startFakeHost(
    { read_catalog: () => ({ ...lists, tools: [TOOL], freshUntil: NO_EXPIRY }) },
    { servers: [sampleServer()] },
  );
});

test("names the app that stopped responding until the user dismisses the notice", async () => {
  render(App);
  await screen.findByRole("main");
  host.shell(stopped(reportOf(4, "unresponsive", "cha\u202Ert")));
  const title = await screen.findByText(/ on files stopped responding and was closed\.$/);
  expect(title, "hidden characters should be visible").not.toHaveTextContent("\u202E");
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  await user.click(within(screen.getByRole("main")).getByRole("button", { name: "Close" }));
  await waitFor(() => expect(screen.queryByText(/stopped responding/)).toBeNull());
  expect(host.dismissedReports, "the report should not return with the next page").toEqual([4]);
});

test("names all apps of a window, since any of them may be the cause", async () => {
  render(App);
  await screen.findByRole("main");
  host.shell(stopped(reportOf(1, "unresponsive", "chart", "map")));
  expect(
    await screen.findByText("One of these apps stopped responding, so all of them were closed:"),
  ).toBeVisible();
  for (const name of ["chart on files", "map on files"]) {
    expect(screen.getByText(name), `${name} should be named`).toBeVisible();
  }
  host.shell(stopped(reportOf(2, "memory_limit", "chart", "map")));
  expect(
    await screen.findByText("One of these apps used too much memory, so all of them were closed:"),
  ).toBeVisible();
  host.shell(stopped(reportOf(3, "memory_limit", "chart")));
  expect(
    await screen.findByText("The app of chart on files used too much memory and was closed."),
  ).toBeVisible();
  host.shell(stopped(reportOf(4, "page_ended", "chart")));
  expect(
    await screen.findByText(
      "The app of chart on files was closed because the process that drew it ended.",
    ),
  ).toBeVisible();
  expect(screen.queryByText("map on files"), "the report was dismissed in the shell").toBeNull();
});

test("names no app if a page without apps used too much memory", async () => {
  render(App);
  await screen.findByRole("main");
  host.shell({
    type: "stopped_apps_changed",
    reports: [reportOf(5, "memory_limit")],
    withheld: [],
  });
  expect(
    await screen.findByText("A window without apps used too much memory, so its page was closed."),
  ).toBeVisible();
  expect(screen.getByText(/What you entered in the window is lost/)).toBeVisible();
  expect(screen.queryByText(/Apps of the same server/), "no app was closed").toBeNull();
  await user.click(within(screen.getByRole("main")).getByRole("button", { name: "Close" }));
  await waitFor(() => expect(screen.queryByText(/too much memory/)).toBeNull());
  expect(host.dismissedReports).toEqual([5]);
});

test("an app of a server whose app was closed with its page is shown only after a click", async () => {
  host.answers.read_app_page = () => Promise.reject(new Error("no page"));
  // Another tool may show the same page.
  stoppedApps.receive([reportOf(1, "unresponsive", "map")], ["files", "mail"]);
  const result = { type: "item", conversation: "c1", item: "i1" } as const;
  render(AppPanel, { server: "files", tool: "chart", call: result, fresh: true });
  const button = await screen.findByRole("button", { name: "Show app" });
  expect(host.requests("read_app_page"), "the app should not be shown by itself").toEqual([]);
  await user.click(button);
  await waitFor(() => expect(host.requests("read_app_page").length).toBe(1));
  expect(host.releasedServers, "the shell should know that the user has decided").toEqual([
    "files",
  ]);
  expect(stoppedApps.isWithheld("files"), "the user has decided").toBe(false);
  expect(stoppedApps.isWithheld("mail"), "other servers are not affected").toBe(true);
});
