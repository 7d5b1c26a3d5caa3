// A server whose start the user denied.
import { cleanup, render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import { sampleServer, startFakeHost } from "$lib/testing/fake-host";

import Overview from "./Overview.svelte";
import ServerHeader from "./ServerHeader.svelte";

afterEach(() => cleanup());

function refused(message: string) {
  const lists = { stderr: [], searchedFolders: [], hint: null };
  return sampleServer({ state: { is: "failed", reason: "refused", message, ...lists } });
}

test.each(["its command was not approved", "its address was not approved"])(
  "is stopped and not failed: %s",
  async (message) => {
    const server = refused(message);
    const host = await startFakeHost({}, { servers: [server] });
    render(ServerHeader, { server });
    render(Overview, { server });
    expect(screen.getAllByText("stopped")).toHaveLength(2);
    expect(screen.queryByText("failed")).toBeNull();
    expect(screen.getByText("You denied the start.")).toBeVisible();
    expect(screen.queryByText(message), "the message should not repeat it").toBeNull();
    const buttons = screen.getAllByRole("button", { name: "Start" });
    expect(buttons, "the header and the note should offer the start").toHaveLength(2);
    await userEvent.click(buttons[1] as HTMLElement);
    expect(host.requests("start_server")).toEqual([{ server: server.name }]);
  },
);

test("names the version that it runs next, if another one was denied", async () => {
  const message = "the other version was not approved; start it again to run 1.2.0";
  const server = refused(message);
  await startFakeHost({}, { servers: [server] });
  render(Overview, { server });
  expect(screen.getByText("You denied the start.")).toBeVisible();
  expect(screen.getByText(message)).toBeVisible();
});

test("has failed if a rule denies the start", async () => {
  const server = refused("rule");
  await startFakeHost({}, { servers: [server] });
  render(Overview, { server });
  expect(screen.getByText("failed")).toBeVisible();
  expect(screen.getByText("Its start was refused")).toBeVisible();
  expect(screen.queryByText("You denied the start.")).toBeNull();
});
