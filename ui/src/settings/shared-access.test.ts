// Shared folders and sampling of servers in the list of grants.
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { afterEach, expect, test } from "vitest";

import { axeProblems } from "$lib/testing/axe";
import { sampleServer, startFakeHost } from "$lib/testing/fake-host";

import { emptyPolicy } from "../rules/fixtures";
import { samplingReport } from "../servers/sampling-fixtures";
import RulesView from "./RulesView.svelte";

afterEach(() => cleanup());

test("E16: lists shared folders and sampling, and revokes them with Undo", async () => {
  const shares = { decided: true, folders: ["/home/ann/trip"], told: ["/home/ann/trip"] };
  const denied = { decided: true, folders: [], told: [] };
  const host = await startFakeHost(
    {
      policy: () => emptyPolicy,
      grants: () => ({ grants: [] }),
      sampling: ({ server }) => samplingReport({ on: server === "git" }),
      set_sampling: () => ({}),
      set_roots: () => ({}),
    },
    {
      servers: [
        sampleServer({ name: "files", roots: shares }),
        sampleServer({ name: "mail", roots: denied }),
        sampleServer({ name: "git" }),
      ],
    },
  );
  render(RulesView);
  expect(await screen.findByText("/home/ann/trip")).toBeVisible();
  expect(screen.getByText("has no shared folders"), "a denial stands, too").toBeVisible();
  expect(await screen.findByText("may use your models")).toBeVisible();
  expect(await axeProblems(), "axe finds nothing").toEqual([]);

  await fireEvent.click(screen.getByRole("button", { name: "Stop sharing: files" }));
  await fireEvent.click(await screen.findByRole("button", { name: "Undo" }));
  await waitFor(() =>
    expect(host.requests("set_roots"), "and as it was").toEqual([
      { server: "files", folders: [] },
      { server: "files", folders: ["/home/ann/trip"] },
    ]),
  );
  await fireEvent.click(screen.getByRole("button", { name: "Turn off models: git" }));
  await waitFor(() => expect(host.requests("set_sampling")[0]?.settings.on).toBe(false));
});
