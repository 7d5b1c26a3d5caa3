// Actions for imported servers.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import { axeProblems } from "$lib/testing/axe";
import { sampleServer, startFakeHost } from "$lib/testing/fake-host";

import type { ImportedServer } from "./app-import.svelte";
import { candidate } from "./fixtures";
import ImportOutcomes from "./ImportOutcomes.svelte";

const imported = (name: string, changes: Parameters<typeof candidate>[1] = {}): ImportedServer => ({
  server: candidate(name, changes),
  outcome: { id: `id of ${name}`, name, onlyThisRun: null, taken: [], unset: [], problem: null },
});

test("starts complete servers together, each with a separate approval", async () => {
  const user = userEvent.setup();
  const server = (name: string) => sampleServer({ name, state: { is: "stopped" } });
  const host = await startFakeHost({}, { servers: ["git", "files", "mail"].map(server) });
  const placeholders = [{ place: { is: "argument" as const, number: 1 }, text: "<key>" }];
  render(ImportOutcomes, {
    servers: [imported("git"), imported("files"), imported("mail", { placeholders })],
  });
  expect(host.requests("start_server"), "nothing should be started automatically").toEqual([]);
  expect(screen.getByText(/Nothing was started/)).toBeVisible();
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  await user.click(screen.getByRole("button", { name: "Start 2 servers" }));
  expect(host.requests("start_server")).toEqual([{ server: "git" }, { server: "files" }]);

  const git = { ...server("git"), state: { is: "awaiting_approval" as const } };
  host.send({ type: "server_changed", server: git });
  const list = within(screen.getByRole("region", { name: "Imported servers" }));
  await waitFor(() => expect(list.getByText("needs approval")).toBeVisible());
  expect(
    screen.queryByText(/Nothing was started/),
    "the outdated note should be removed",
  ).toBeNull();
  expect(
    screen.getByRole("button", { name: "Start 1 server" }),
    "the remaining server should be offered",
  ).toBeEnabled();
});
