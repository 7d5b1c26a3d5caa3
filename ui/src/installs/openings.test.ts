import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import type { ImportedServer, Server } from "$lib/api/generated";
import { dialogController } from "../consent";
import { consentRequest, rootsBody } from "../consent/fixtures";
import { axeProblems } from "$lib/testing/axe";
import { sampleServer, startFakeHost } from "$lib/testing/fake-host";
import { holdTimers } from "$lib/testing/held-timers";

import { importNote } from "../other-apps/fixtures";
import Window from "../shell/Window.svelte";

import { bundleOffer, samplePreview } from "./fixtures";
// Preloaded, because the first load takes longer than a test waits.
import "./InstallSheet.svelte";
import { installSheet } from "./install-sheet.svelte";

const user = userEvent.setup();
afterEach(() => cleanup());

const LINK = "drawbridge://mcp/install?name=words&config=e30";
const SHEET = "Add a server from a link";
const UNKNOWN = "The source of this link is not known";

function imported(name: string): ImportedServer {
  return {
    ...{ name, usable: true },
    notes: [{ ...importNote("code_option", "", "-c"), place: { is: "argument", number: 1 } }],
    config: {
      ...{ type: "stdio", command: "npx", args: ["-c", "touch ~/x"] },
      ...{ env: { NODE_OPTIONS: "-r x" }, cwd: null, revision: null },
    },
  };
}

async function start(answers: Parameters<typeof startFakeHost>[0] = {}, servers: Server[] = []) {
  const host = await startFakeHost(
    {
      plan_install: (source) => ({ ...bundleOffer(), source }),
      preview_install: () => samplePreview(),
      parse_import: () => ({ servers: [imported("words")], problem: null }),
      add_server: () => ({ onlyThisRun: null }),
      ...answers,
    },
    { servers },
  );
  render(Window);
  return host;
}

/** Delay in milliseconds before an offer from outside of the window can be added, as in `InstallSheet.svelte`. */
const QUIET_MS = 700;
const bundle = (path: string) =>
  ({ type: "opened", id: 7, opening: { is: "bundle", path } }) as const;
const link = { type: "opened", id: 8, opening: { is: "link", link: LINK } } as const;
const sheet = () => screen.findByRole("dialog");

test("opens a bundle in the sheet and focuses it", async () => {
  const host = await start();
  const timers = holdTimers(QUIET_MS);
  host.shell(bundle("/home/ann/words.mcpb"));
  const dialog = await sheet();
  await within(dialog).findByRole("heading", { name: "Source" });
  await waitFor(() =>
    expect(dialog.contains(document.activeElement), "the sheet should be focused").toBe(true),
  );
  expect(host.requests("plan_install"), "the path from the shell should be read").toEqual([
    { from: "bundle", path: "/home/ann/words.mcpb", sha256: null },
  ]);
  const add = within(dialog).getByRole("button", { name: "Add server" });
  expect(add, "the button should be disabled at first").toBeDisabled();
  timers.release();
  await waitFor(() => expect(add).toBeEnabled());
  expect(host.openingsDone, "the opening should not be done yet").toEqual([]);
  await user.click(within(dialog).getByRole("button", { name: "Cancel" }));
  await waitFor(() =>
    expect(host.openingsDone, "the next opening should be requested").toEqual([7]),
  );
  expect(host.requests("install_server"), "nothing should be installed").toEqual([]);
});

test("waits while another dialog is open", async () => {
  const host = await start();
  installSheet.openFile();
  const typed = await screen.findByRole("dialog", { name: "Install a bundle" });
  host.shell(bundle("/a.mcpb"));
  host.shell(bundle("/a.mcpb"));
  await user.type(within(typed).getByRole("textbox", { name: "File" }), "/b");
  expect(
    screen.getByRole("dialog", { name: "Install a bundle" }),
    "the open dialog should not be replaced",
  ).toBeVisible();
  expect(host.requests("plan_install")).toEqual([]);
  await user.click(within(typed).getByRole("button", { name: "Cancel" }));
  await waitFor(() =>
    expect(host.requests("plan_install"), "the bundle should be read now").toHaveLength(1),
  );
  expect(host.openingsDone).toEqual([]);
});

test("waits behind a consent request", async () => {
  const host = await start();
  host.send({
    type: "consent_request_changed",
    consentRequest: consentRequest(rootsBody, { id: "q1" }),
  });
  await waitFor(() => expect(dialogController.request?.id).toBe("q1"));
  host.shell(link);
  await screen.findByTestId("consent-request");
  expect(host.requests("parse_import"), "nothing should be read").toEqual([]);
  host.send({ type: "consent_request_closed", id: "q1", outcome: "denied" });
  await waitFor(() =>
    expect(
      host.requests("parse_import"),
      "the link should be read after the decision",
    ).toHaveLength(1),
  );
});

test("shows a link completely with a warning about its unknown sender, and adds it after a delay", async () => {
  const host = await start();
  const timers = holdTimers(QUIET_MS);
  host.shell(link);
  const dialog = await screen.findByRole("dialog", { name: SHEET });
  expect(within(dialog).getByText(UNKNOWN)).toBeVisible();
  expect(
    await within(dialog).findByText(/touch ~\/x/),
    "the whole command should be shown",
  ).toBeVisible();
  expect(dialog).toHaveTextContent("NODE_OPTIONS");
  expect(dialog).toHaveTextContent("Argument 1: “-c” runs code");
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  const add = within(dialog).getByRole("button", { name: /^Add 1 server/ });
  expect(add, "the button should be disabled at first").toBeDisabled();
  await user.keyboard("{Enter}");
  expect(host.requests("add_server")).toEqual([]);
  timers.release();
  await waitFor(() => expect(add).toBeEnabled());
  await user.click(add);
  await waitFor(() => expect(host.requests("add_server")).toHaveLength(1));
  await waitFor(() => expect(host.openingsDone).toEqual([8]));
});

test("does not replace a server of the same name", async () => {
  const host = await start(
    { parse_import: () => ({ servers: [imported("files")], problem: null }) },
    [sampleServer({ name: "files" })],
  );
  host.shell(link);
  const add = await screen.findByRole("button", { name: /^Add 1 server/ });
  await waitFor(() => expect(add).toBeEnabled(), { timeout: 3_000 });
  await user.click(add);
  expect(
    await screen.findByText("Another server has this name."),
    "the taken name should be reported",
  ).toBeVisible();
  expect(host.requests("add_server")).toEqual([]);
});

test("shows nothing to add for a refused link", async () => {
  const message = "this link for Drawbridge can't be used: it may not set dxtPath";
  const host = await start({
    parse_import: () => ({
      servers: [],
      problem: { file: null, line: null, column: null, message },
    }),
  });
  host.shell(link);
  const dialog = await screen.findByRole("dialog", { name: SHEET });
  expect(await within(dialog).findByText(message)).toBeVisible();
  expect(within(dialog).queryByRole("button", { name: /^Add/ })).toBeNull();
});

test("explains as text why something is not opened, and continues with the next", async () => {
  const host = await start();
  const what = "/home/ann/<img src=x>\u202e.txt";
  host.shell({ type: "opened", id: 1, opening: { is: "refused", what, reason: "not_a_bundle" } });
  const note = await screen.findByText(/This file is not a bundle/);
  expect(note).toBeVisible();
  expect(document.body).toHaveTextContent("U+202E");
  host.shell({ type: "opened", id: 2, opening: { is: "dropped", count: 3 } });
  expect(await screen.findByText(/^3 more files or links/)).toBeVisible();
  expect(host.openingsDone).toEqual([1, 2]);
  expect(screen.queryByRole("dialog"), "no sheet should be opened").toBeNull();
});

test("shows a drop target while bundles are dragged over the window", async () => {
  const host = await start();
  host.shell({ type: "bundles_over", count: 2 });
  expect(await screen.findByText("Drop to open 2 bundles")).toBeVisible();
  host.shell({ type: "bundles_over", count: 0 });
  await waitFor(() => expect(screen.queryByText(/^Drop to open/)).toBeNull());
});
