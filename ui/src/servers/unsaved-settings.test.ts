// Changes to the settings of a server that are not saved: they remain, and a start asks about them.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import { axeProblems } from "$lib/testing/axe";
import { sampleServer, startFakeHost, type FakeHost } from "$lib/testing/fake-host";

import AddServer from "./AddServer.svelte";
import ServerPage from "./ServerPage.svelte";
import { remoteServerFields, showServerTab } from "./server-page-fixtures";
import UnsavedStartDialog from "./UnsavedStartDialog.svelte";

const user = userEvent.setup();
const SAVED = { update_server: () => ({ onlyThisRun: null }) };

const commandField = () => screen.findByRole("textbox", { name: "Command" });
const sentCommands = (host: FakeHost) =>
  host.commands.map(({ name }) => name).filter((name) => name.endsWith("_server"));

/** Opens the settings, and changes the command. */
async function changeCommand() {
  const host = await showServerTab("settings", {}, SAVED);
  render(UnsavedStartDialog);
  await user.clear(await commandField());
  await user.type(await commandField(), "other-program");
  return host;
}

test("unsaved changes remain while another tab is shown, until they are discarded", async () => {
  await changeCommand();
  document.body.innerHTML = "";
  render(ServerPage, { name: "files", tab: "overview", item: undefined });
  const mark = await screen.findByRole("button", { name: "Unsaved changes" });
  expect(mark, "the header should name the changes").toBeVisible();
  render(ServerPage, { name: "files", tab: "settings", item: undefined });
  expect(await commandField(), "the changes should remain").toHaveValue("other-program");
  await user.click(screen.getByRole("button", { name: "Discard changes" }));
  expect(await commandField()).not.toHaveValue("other-program");
  expect(screen.queryByRole("button", { name: "Unsaved changes" })).toBeNull();
});

test("a restart asks whether the changes are saved first, and saves them", async () => {
  const host = await changeCommand();
  await user.click(screen.getByRole("button", { name: "Restart" }));
  const dialog = await screen.findByRole("dialog", { name: "Save the changes to files first?" });
  expect(sentCommands(host), "nothing should be sent before the answer").toEqual([]);
  expect(await axeProblems(dialog)).toEqual([]);
  await user.click(within(dialog).getByRole("button", { name: "Save and restart" }));
  await waitFor(() =>
    expect(sentCommands(host), "the changes should be saved before the restart").toEqual([
      "update_server",
      "restart_server",
    ]),
  );
  expect(host.requests("update_server")[0]?.config).toMatchObject({ command: "other-program" });
});

test("settings that change meanwhile are not overwritten, and the changes remain", async () => {
  const host = await changeCommand();
  const { config } = sampleServer();
  host.send({
    type: "server_changed",
    server: sampleServer({ config: { ...config, revision: "2025-06-18" } }),
  });
  expect(await screen.findByText(/stored settings have changed/)).toBeVisible();
  expect(await commandField()).toHaveValue("other-program");
  expect(screen.getByRole("button", { name: "Save" })).toBeDisabled();
  await user.click(screen.getByRole("button", { name: "Restart" }));
  await waitFor(() => expect(sentCommands(host)).toEqual(["restart_server"]));
});

test("a saved secret is not kept, though its reference is the same", async () => {
  await showServerTab("settings", remoteServerFields, SAVED);
  await user.type(screen.getByLabelText("Value of Authorization"), "Bearer secret");
  await user.click(screen.getByRole("button", { name: "Save" }));
  expect(await screen.findByText("Saved.")).toBeVisible();
  expect(screen.queryByDisplayValue("Bearer secret"), "the secret should be forgotten").toBeNull();
});

test("the changes of a removed server are forgotten", async () => {
  const host = await changeCommand();
  host.send({ type: "server_removed", name: "files" });
  host.send({ type: "server_changed", server: sampleServer() });
  expect(await commandField()).not.toHaveValue("other-program");
  expect(screen.queryByRole("button", { name: "Unsaved changes" })).toBeNull();
});

test("a restart without the changes keeps them", async () => {
  const host = await changeCommand();
  await user.click(screen.getByRole("button", { name: "Restart" }));
  const dialog = await screen.findByRole("dialog");
  await user.click(within(dialog).getByRole("button", { name: "Start without the changes" }));
  await waitFor(() => expect(sentCommands(host)).toEqual(["restart_server"]));
  expect(await commandField()).toHaveValue("other-program");
});

test("changes that can't be saved start nothing, and show why", async () => {
  const host = await showServerTab("settings", {}, SAVED);
  render(UnsavedStartDialog);
  await user.clear(await commandField());
  await user.click(screen.getByRole("button", { name: "Restart" }));
  const dialog = await screen.findByRole("dialog");
  await user.click(within(dialog).getByRole("button", { name: "Save and restart" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(sentCommands(host), "nothing should be sent").toEqual([]);
  expect(await commandField(), "the field should name its problem").toBeInvalid();
});

test("text on the page to add servers remains until its server is added", async () => {
  await startFakeHost(
    { parse_import: () => ({ servers: [], problem: null }) },
    { servers: [sampleServer({ name: "files" })] },
  );
  const first = render(AddServer);
  await user.type(screen.getByRole("textbox"), "https://example.com/mcp");
  first.unmount();
  render(AddServer);
  expect(screen.getByRole("textbox")).toHaveValue("https://example.com/mcp");
});
