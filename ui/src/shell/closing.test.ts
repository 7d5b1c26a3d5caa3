import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { afterEach, expect, it } from "vitest";

import { app } from "$lib/state/app.svelte";
import { axeProblems } from "$lib/testing/axe";
import { sampleServer, startFakeHost } from "$lib/testing/fake-host";

import Window from "./Window.svelte";

afterEach(() => cleanup());

const BACKGROUND = "Keep running in the background";

async function closed(answers: Parameters<typeof startFakeHost>[0] = {}) {
  const host = await startFakeHost(answers, { servers: [sampleServer()] });
  render(Window);
  host.shell({ type: "closing_asked", servers: 2 });
  await screen.findByRole("dialog", { name: "Keep 2 servers running?" });
  return host;
}

it("shows a choice, and reports that it is shown", async () => {
  const host = await closed();
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  const keepButton = screen.getByRole("button", { name: BACKGROUND });
  await waitFor(() => expect(keepButton, "the safe choice should be focused").toHaveFocus());
  expect(host.closingsShown, "the dialog should be reported as shown").toBe(1);
  host.shell({ type: "closing_asked", servers: 2 });
  expect(host.closingsShown, "the dialog should be reported again").toBe(2);
  expect(host.closings, "nothing should be done").toEqual([]);
});

it("keeps running in the background without remembering the choice", async () => {
  const host = await closed();
  await fireEvent.click(screen.getByRole("button", { name: BACKGROUND }));
  await waitFor(() =>
    expect(screen.queryByRole("dialog"), "the dialog should be closed").toBeNull(),
  );
  expect(host.closings, "the window should be hidden").toEqual(["background"]);
  expect(host.requests("set_settings"), "no setting should be changed").toEqual([]);
});

it("remembers the choice on request", async () => {
  const host = await closed();
  await fireEvent.click(screen.getByRole("checkbox", { name: "Remember my choice" }));
  await fireEvent.click(screen.getByRole("button", { name: "Quit" }));
  await waitFor(() => expect(host.closings, "the app should quit").toEqual(["quit"]));
  expect(host.requests("set_settings"), "the choice should be stored first").toEqual([
    { ...host.snapshot.settings, onClose: "quit" },
  ]);
});

it("shows why a choice was not remembered, and keeps the window open", async () => {
  const host = await closed({
    set_settings: () => {
      throw { code: "system", message: "disk full" };
    },
  });
  await fireEvent.click(screen.getByRole("checkbox", { name: "Remember my choice" }));
  await fireEvent.click(screen.getByRole("button", { name: BACKGROUND }));
  expect(await screen.findByText(/disk full/), "the cause should be shown").toBeVisible();
  expect(host.closings, "nothing should be done").toEqual([]);
});

it("keeps the window open when dismissed", async () => {
  const host = await closed();
  await fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
  await waitFor(() =>
    expect(screen.queryByRole("dialog"), "the dialog should be closed").toBeNull(),
  );
  expect(host.closings, "nothing should be done").toEqual([]);
  host.shell({ type: "closing_asked", servers: 1 });
  expect(
    await screen.findByRole("dialog", { name: "Keep 1 server running?" }),
    "the dialog should be shown again",
  ).toBeVisible();
});

it("quits by Ctrl+Q, and asks first while servers run", async () => {
  const host = await startFakeHost({}, { servers: [sampleServer()] });
  render(Window);
  await fireEvent.keyDown(document.body, { key: "q", ctrlKey: true });
  await screen.findByRole("dialog", { name: "Keep 1 server running?" });
  expect(host.closings, "nothing should be done before the user decides").toEqual([]);
  await fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  host.send({ type: "server_changed", server: sampleServer({ state: { is: "stopped" } }) });
  await fireEvent.keyDown(document.body, { key: "q", ctrlKey: true });
  await waitFor(() => expect(host.closings, "no server runs").toEqual(["quit"]));
});

it("quits without a question if the settings say so", async () => {
  const host = await startFakeHost({}, { servers: [sampleServer()] });
  await app.changeSettings({ onClose: "quit" });
  render(Window);
  await fireEvent.keyDown(document.body, { key: "q", ctrlKey: true });
  await waitFor(() => expect(host.closings).toEqual(["quit"]));
});
