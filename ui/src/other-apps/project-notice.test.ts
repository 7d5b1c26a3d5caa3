// Notice about shared folders that set up servers.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { flushSync } from "svelte";
import { beforeEach, expect, test } from "vitest";

import type { ImportCandidates, ImportedServers, ProjectServers, Server } from "$lib/api/generated";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import { sampleServer, startFakeHost, type FakeHost } from "$lib/testing/fake-host";

import { appImport } from "./app-import.svelte";
import { candidate, cursorApp, importCandidates } from "./fixtures";
import ProjectNotice from "./ProjectNotice.svelte";

const user = userEvent.setup();
const work = "/home/ann/work";
const trip = "/home/ann/trip";

const project = (folder: string, changes: Partial<ProjectServers> = {}): ProjectServers => ({
  ...{ folder, files: [".mcp.json", ".vscode/mcp.json"], count: 2, hash: `hash of ${folder}` },
  ...changes,
});
const sharing = (...folders: string[]): Server =>
  sampleServer({ roots: { decided: true, folders, sentFolders: folders } });
const title = (text: string) => screen.findByText(text);
const button = (name: string) => screen.getByRole("button", { name });

beforeEach(() => router.go({ at: "settings" }));

async function showNotice(projects: ProjectServers[], server = sharing(work)): Promise<FakeHost> {
  const host = await startFakeHost(
    {
      list_unseen_projects: () => ({ projects }),
      find_import_candidates: () => importCandidates([]),
    },
    { servers: [server] },
  );
  render(ProjectNotice);
  return host;
}

test("names the folder and its files, and reads nothing else", async () => {
  const host = await showNotice([project(work)]);
  expect(await title("This folder sets up 2 servers")).toBeVisible();
  expect(screen.getByText(work)).toBeVisible();
  expect(
    screen.getByText(/in \.mcp\.json, \.vscode\/mcp\.json\. Drawbridge trusts none/),
    "the files should be named",
  ).toBeVisible();
  expect(
    host.commands.map(({ name }) => name),
    "nothing should be imported or marked as seen",
  ).toEqual(["list_unseen_projects"]);
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
});

test("opens the import of the folder, and does not return", async () => {
  const host = await showNotice([project(work, { count: 1 })]);
  expect(await title("This folder sets up 1 server")).toBeVisible();
  await user.click(button(`Review the servers of ${work}`));
  expect(router.current).toEqual({ at: "import", project: work });
  const source = { app: null, project: work, workspace: null };
  expect(host.requests("find_import_candidates"), "the folder should be read").toEqual([source]);
  await waitFor(() =>
    expect(host.requests("mark_project_seen")).toEqual([{ folder: work, hash: `hash of ${work}` }]),
  );
  expect(host.requests("import_servers"), "nothing should be imported").toEqual([]);
  router.go({ at: "settings" });
  await waitFor(() => expect(screen.queryByRole("button"), "no notice should remain").toBeNull());
});

test("returns if the files of the folder could not be read", async () => {
  const host = await showNotice([project(work)]);
  await title("This folder sets up 2 servers");
  host.answers.find_import_candidates = () =>
    Promise.reject({ code: "system", message: "no folder" });
  await user.click(button(`Review the servers of ${work}`));
  await waitFor(() => expect(appImport.step.is).toBe("failed"));
  router.go({ at: "settings" });
  expect(await screen.findByText(work), "nothing was shown yet").toBeVisible();
  expect(host.requests("mark_project_seen")).toEqual([]);
});

test("returns if the import was left before its files were read", async () => {
  const host = await showNotice([project(work)]);
  await title("This folder sets up 2 servers");
  let finish: (found: ImportCandidates) => void = () => undefined;
  host.answers.find_import_candidates = () => new Promise((done) => (finish = done));
  await user.click(button(`Review the servers of ${work}`));
  appImport.turnTo(null);
  finish(importCandidates([cursorApp(candidate("git"))]));
  router.go({ at: "settings" });
  expect(await screen.findByText(work), "nothing was shown yet").toBeVisible();
  expect(appImport.step.is, "the servers of another source should be dropped").toBe("idle");
  expect(host.requests("mark_project_seen")).toEqual([]);
});

test("can't end a running import", async () => {
  const host = await showNotice([project(work)]);
  await title("This folder sets up 2 servers");
  host.answers.find_import_candidates = () => importCandidates([cursorApp(candidate("git"))]);
  let finish: (outcomes: ImportedServers) => void = () => undefined;
  host.answers.import_servers = () => new Promise((done) => (finish = done));
  await appImport.scan();
  const run = appImport.run();
  const review = button(`Review the servers of ${work}`);
  await waitFor(() => expect(review).toBeDisabled());
  expect(review).toHaveAccessibleDescription(
    "Another import is running. Review these servers when it has ended.",
  );
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  finish({
    outcomes: [
      { id: "id of git", name: "git", onlyThisRun: null, taken: [], unset: [], problem: null },
    ],
  });
  await run;
  await waitFor(() => expect(review).toBeEnabled());
  expect(appImport.step.is, "the outcome should be kept").toBe("imported");
});

test("is dismissed at once while the folders are read again", async () => {
  const host = await showNotice([project(work)]);
  await screen.findByText(work);
  let finish: (listed: { projects: ProjectServers[] }) => void = () => undefined;
  host.answers.list_unseen_projects = () => new Promise((done) => (finish = done));
  host.send({ type: "server_changed", server: sharing(trip, work) });
  await waitFor(() => expect(host.requests("list_unseen_projects").length).toBe(2));
  await user.click(button(`Dismiss the note on ${work}`));
  expect(host.requests("mark_project_seen"), "it should not wait for the folders").toEqual([
    { folder: work, hash: `hash of ${work}` },
  ]);
  expect(screen.queryByText(work)).toBeNull();
  finish({ projects: [project(work), project(trip)] });
  expect(await screen.findByText(trip), "the dismissed folder should not return").toBeVisible();
  host.answers.list_unseen_projects = () => ({
    projects: [project(work, { hash: "another hash" })],
  });
  host.send({ type: "server_changed", server: sharing(work) });
  expect(await screen.findByText(work), "its files have changed").toBeVisible();
});

test("shows one folder at a time until it is dismissed", async () => {
  const host = await showNotice([project(trip), project(work)], sharing(trip, work));
  expect(await screen.findByText(trip)).toBeVisible();
  expect(screen.queryByText(work), "the second folder should wait").toBeNull();
  await user.click(button(`Dismiss the note on ${trip}`));
  expect(await screen.findByText(work)).toBeVisible();
  expect(host.requests("mark_project_seen")).toEqual([{ folder: trip, hash: `hash of ${trip}` }]);
  expect(host.requests("find_import_candidates"), "a dismissal should read nothing").toEqual([]);
});

test("reads the folders again only when a folder is added or removed", async () => {
  const host = await showNotice([project(work)], sampleServer());
  expect(host.commands, "without a shared folder nothing should be read").toEqual([]);
  const reads = () => host.requests("list_unseen_projects").length;
  host.send({ type: "server_changed", server: sharing(work) });
  expect(await screen.findByText(work), "the added folder should be read").toBeVisible();
  flushSync(() => host.send({ type: "server_changed", server: { ...sharing(work), pid: 5 } }));
  expect(reads(), "another change should not cause a read").toBe(1);
  flushSync(() => host.send({ type: "server_changed", server: sharing(trip, work) }));
  await waitFor(() => expect(reads(), "the second folder should be read").toBe(2));
  flushSync(() => host.send({ type: "server_changed", server: sampleServer() }));
  await waitFor(() => expect(screen.queryByText(work), "no folder is shared").toBeNull());
  expect(reads(), "without a shared folder nothing should be read").toBe(2);
});

test("is hidden where the view has the same note", async () => {
  await showNotice([project(work)]);
  expect(await screen.findByText(work)).toBeVisible();
  router.server("files", "roots");
  await waitFor(() => expect(screen.queryByText(work)).toBeNull());
  router.server("files", "overview");
  expect(await screen.findByText(work)).toBeVisible();
  router.go({ at: "import" });
  await waitFor(() => expect(screen.queryByText(work)).toBeNull());
});
