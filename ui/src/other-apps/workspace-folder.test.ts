import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";

import type { ImportSource } from "$lib/api/generated";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import { startFakeHost, type FakeHost } from "$lib/testing/fake-host";

import { candidate, cursorApp, importCandidates } from "./fixtures";
import ImportView from "./ImportView.svelte";

const FOLDER = "/home/ann/work";
const user = userEvent.setup();
const button = (name: string) => screen.getByRole("button", { name });
let host: FakeHost;

/** Servers of an app: one refers to the project folder, which is chosen or not, and the others do not. */
function found({ workspace }: ImportSource) {
  const place = { is: "argument", number: 1 } as const;
  const placeholders = workspace === null ? [{ place, text: "${workspaceFolder}/db" }] : [];
  const id = `id of files in ${workspace}`;
  const apps = [
    cursorApp(candidate("files", { id, placeholders }), candidate("git"), candidate("far")),
  ];
  return importCandidates(apps, { needsWorkspace: workspace === null });
}

beforeEach(async () => {
  host = await startFakeHost({
    find_import_candidates: found,
    import_servers: ({ ids }) => ({
      outcomes: ids.map((id) => ({
        id,
        name: id,
        onlyThisRun: null,
        taken: [],
        unset: [],
        problem: null,
      })),
    }),
    pick_folder: () => ({ folder: FOLDER }),
  });
  router.go({ at: "import" });
  render(ImportView);
  await user.click(button("Search for servers"));
  await screen.findByRole("group", { name: "files" });
});

test("one chosen folder completes the servers that need it", async () => {
  const box = (name: string) => screen.getByRole("checkbox", { name });
  expect(box("files"), "an incomplete server should not be selected").not.toBeChecked();
  await user.click(box("git"));
  await user.click(button("Choose the project folder"));
  expect(await screen.findByText(FOLDER)).toBeVisible();
  expect(box("files"), "the server is complete").toBeChecked();
  expect(box("git"), "the user's choice should be kept").not.toBeChecked();
  expect(box("far")).toBeChecked();
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  await user.click(button("Import 2 servers"));
  const source = { app: null, project: null, workspace: FOLDER };
  expect(
    host.requests("import_servers"),
    "the servers should be found in the same way",
  ).toMatchObject([{ source, ids: [`id of files in ${FOLDER}`, "id of far"] }]);
});

test("the chosen folder can be removed, and a canceled dialog changes nothing", async () => {
  host.answers.pick_folder = () => ({ folder: null });
  await user.click(button("Choose the project folder"));
  expect(host.requests("find_import_candidates").length, "nothing should be read again").toBe(1);
  host.answers.pick_folder = () => ({ folder: FOLDER });
  await user.click(button("Choose the project folder"));
  await user.click(await screen.findByRole("button", { name: "Use no folder" }));
  expect(await screen.findByRole("button", { name: "Choose the project folder" })).toBeVisible();
  expect(host.requests("find_import_candidates").map(({ workspace }) => workspace)).toEqual([
    null,
    FOLDER,
    null,
  ]);
});
