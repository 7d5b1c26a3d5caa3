// Import of the servers of a project.
import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";

import { router } from "$lib/state/router.svelte";
import { startFakeHost, type FakeHost } from "$lib/testing/fake-host";

import { candidate, cursorApp, importCandidates } from "./fixtures";
import ImportView from "./ImportView.svelte";

const folder = "/home/ann/work";
const user = userEvent.setup();
let host: FakeHost;

beforeEach(async () => {
  host = await startFakeHost({
    find_import_candidates: () => importCandidates([cursorApp(candidate("git"))]),
    import_servers: ({ ids }) => ({
      outcomes: ids.map((id) => ({
        id,
        name: "git",
        onlyThisRun: null,
        taken: [],
        unset: [],
        problem: null,
      })),
    }),
  });
  router.go({ at: "import" });
  render(ImportView);
});

async function scan() {
  await user.click(screen.getByRole("button", { name: "Search for servers" }));
  await screen.findByRole("group", { name: "git" });
}

const box = () => screen.getByRole("checkbox", { name: "git" });
const button = (name: string) => screen.getByRole("button", { name });

test("a project is scanned without preselecting any of its servers", async () => {
  router.go({ at: "import", project: folder });
  expect(await screen.findByRole("heading", { name: "Servers of a project" })).toBeVisible();
  expect(host.commands, "nothing should be read yet").toEqual([]);
  await scan();
  const source = { app: null, project: folder, workspace: null };
  expect(host.requests("find_import_candidates"), "only the project should be read").toEqual([
    source,
  ]);
  expect(box(), "a server of a project should not be preselected").not.toBeChecked();
  expect(button("Import servers"), "no server should be selected").toBeDisabled();
  expect(screen.getByText(/Nothing is selected/)).toBeVisible();
  await user.click(box());
  await user.click(button("Import 1 server"));
  await screen.findByRole("heading", { name: "1 server imported" });
  expect(host.requests("import_servers")).toEqual([{ source, ids: ["id of git"], taken: [] }]);
});

test("the outcome of an import is shown although the user switched the source meanwhile", async () => {
  router.go({ at: "import", project: folder });
  await scan();
  await user.click(box());
  let finish: () => void = () => undefined;
  const outcome = {
    id: "id of git",
    name: "git",
    onlyThisRun: null,
    taken: [],
    unset: [],
    problem: null,
  };
  host.answers.import_servers = () =>
    new Promise((done) => (finish = () => done({ outcomes: [outcome] })));
  await user.click(button("Import 1 server"));
  router.go({ at: "import" });
  await Promise.resolve();
  finish();
  expect(await screen.findByRole("heading", { name: "1 server imported" })).toBeVisible();
  expect(screen.getByRole("heading", { name: "Servers of a project" })).toBeVisible();
  await user.click(button("Done"));
  router.go({ at: "import" });
  expect(await screen.findByRole("heading", { name: "Import from other apps" })).toBeVisible();
});

test("a project is discarded when the user switches to the settings of all apps", async () => {
  router.go({ at: "import", project: folder });
  await scan();
  router.go({ at: "import" });
  expect(await screen.findByRole("heading", { name: "Import from other apps" })).toBeVisible();
  expect(screen.queryByRole("group", { name: "git" }), "the server should be removed").toBeNull();
});
