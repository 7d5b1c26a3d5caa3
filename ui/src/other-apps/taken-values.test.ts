import { render, screen, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";

import type { ImportedValue } from "$lib/api/generated";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import { startFakeHost, type FakeHost } from "$lib/testing/fake-host";

import { candidate, cursorApp, importCandidates } from "./fixtures";
import ImportView from "./ImportView.svelte";

const user = userEvent.setup();
let host: FakeHost;

const fromEnvironment = (
  name: string,
  requiresInput: boolean,
  ...variables: string[]
): ImportedValue => ({
  ...{ name, kind: "reference", requiresInput },
  source: { is: "environment", variables },
});

beforeEach(async () => {
  const headers = [fromEnvironment("Authorization", true, "FAR_TOKEN")];
  const env = [
    fromEnvironment("PLACE", false, "HOST_NAME", "PORT"),
    { name: "KEY", kind: "reference", requiresInput: true, source: null } as const,
    {
      ...({ name: "AREA", kind: "reference", requiresInput: false } as const),
      source: { is: "file", path: "/home/ann/.env" } as const,
    },
  ];
  host = await startFakeHost({
    find_import_candidates: () =>
      importCandidates([
        cursorApp(
          candidate("far", { transport: "http", headers }),
          candidate("near", { env }),
          candidate("same", { headers, status: "same" }),
        ),
      ]),
    import_servers: ({ ids, taken }) => ({
      outcomes: ids.map((id) => ({
        ...{ id, name: id.replace("id of ", ""), onlyThisRun: null, problem: null },
        taken: taken
          .filter((value) => value.id === id && value.name !== "PLACE")
          .map(({ name }) => name),
        unset: taken.some((value) => value.id === id && value.name === "PLACE") ? ["PORT"] : [],
      })),
    }),
  });
  router.go({ at: "import" });
  render(ImportView);
  await user.click(screen.getByRole("button", { name: "Search for servers" }));
  await screen.findByRole("group", { name: "far" });
});

const row = (name: string) => within(screen.getByRole("group", { name }));
const values = () => host.requests("import_servers").map(({ taken }) => taken);

test("no value is taken from the environment by default", async () => {
  const take = row("far").getByRole("checkbox", { name: "Take FAR_TOKEN from my environment" });
  expect(take).not.toBeChecked();
  expect(row("far").getByText("Enter it after the import.")).toBeVisible();
  expect(
    row("same").queryByRole("checkbox", { name: /from my environment/ }),
    "nothing can be taken for a server that is not imported",
  ).toBeNull();
  await user.click(screen.getByRole("button", { name: "Import 2 servers" }));
  expect(values(), "the user has chosen no value").toEqual([[]]);
  const missing = within(await screen.findByRole("region", { name: "Values to enter" }));
  expect(missing.getByText("Authorization")).toBeVisible();
});

test("a chosen value is taken, and a variable that is not set is named", async () => {
  const take = row("far").getByRole("checkbox", { name: "Take FAR_TOKEN from my environment" });
  await user.click(take);
  expect(take).toHaveAccessibleDescription(/environment that Drawbridge was started with/);
  expect(row("far").queryByText("Enter it after the import.")).toBeNull();
  await user.click(row("near").getByRole("checkbox", { name: /HOST_NAME, PORT/ }));
  await user.click(row("near").getByRole("checkbox", { name: "Take it from /home/ann/.env" }));
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  await user.click(screen.getByRole("button", { name: "Import 2 servers" }));
  expect(values()).toEqual([
    [
      { id: "id of far", name: "Authorization" },
      { id: "id of near", name: "PLACE" },
      { id: "id of near", name: "AREA" },
    ],
  ]);
  expect(await screen.findByText("Not set in the environment of Drawbridge")).toBeVisible();
  expect(screen.getByText("PORT")).toBeVisible();
  const missing = within(screen.getByRole("region", { name: "Values to enter" }));
  expect(missing.getByText("PLACE, KEY"), "the others are still missing").toBeVisible();
  expect(missing.queryByText("Authorization"), "the value was taken").toBeNull();
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
});

test("values of servers that are not selected are not taken", async () => {
  await user.click(row("far").getByRole("checkbox", { name: /FAR_TOKEN/ }));
  await user.click(screen.getByRole("checkbox", { name: "far" }));
  await user.click(screen.getByRole("button", { name: "Import 1 server" }));
  expect(values()).toEqual([[]]);
});
