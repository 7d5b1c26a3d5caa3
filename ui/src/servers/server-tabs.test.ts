import { screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { describe, expect, test } from "vitest";

import type { Grant, Sandbox, ServerConfig } from "$lib/api/generated";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import { sampleServer } from "$lib/testing/fake-host";

import { remoteServerFields, showServerTab } from "./server-page-fixtures";

const user = userEvent.setup();

describe("OAuth fields", () => {
  test("are collapsed by default, and never show the secret", async () => {
    const host = await showServerTab("settings", remoteServerFields);
    expect(
      screen.queryByLabelText("Client ID"),
      "the fields should be collapsed",
    ).not.toBeVisible();
    await user.click(screen.getByText("Authorization", { selector: "summary" }));
    await user.type(screen.getByLabelText("Client secret"), "s3cret");
    await user.click(screen.getByRole("button", { name: "Save" }));
    expect(
      screen.getByText("A client secret needs a client ID."),
      "the missing value should be reported",
    ).toBeVisible();
    await user.type(screen.getByLabelText("Client ID"), "drawbridge");
    await user.type(screen.getByLabelText("Scopes"), "ships:read  ships:write");
    await user.type(screen.getByLabelText("Redirect port"), "4321");
    expect(
      screen.getByText("http://127.0.0.1:4321/callback"),
      "the redirect URI to register should be shown",
    ).toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.click(screen.getByRole("button", { name: "Save" }));
    expect(host.requests("update_server")[0]?.config, "the fields should be sent").toMatchObject({
      auth: {
        ...{ clientId: "drawbridge", clientSecret: "s3cret", hasSecret: true, issuer: null },
        scopes: ["ships:read", "ships:write"],
        redirectPort: 4321,
      },
    });
  });
});

describe("a secret for sign-in", () => {
  test("is entered separately and never shown", async () => {
    const auth = {
      ...{ clientId: "us", clientSecret: null, hasSecret: false, issuer: "https://i.example" },
      ...{ scopes: [], redirectPort: null, secretNames: ["far.key"], rest: null },
    };
    const config: ServerConfig = {
      ...{ type: "http", url: "https://mcp.example.com/", headers: [], kind: null, revision: null },
      auth,
    };
    const host = await showServerTab(
      "settings",
      { config },
      { set_secret: () => ({ onlyThisRun: null }) },
    );
    const field = await screen.findByRole("textbox", { name: "far.key" });
    const saveButton = screen.getByRole("button", { name: "Save far.key" });
    expect(saveButton, "the button should be disabled without a value").toBeDisabled();
    await user.type(field, "line 1{Enter}line 2");
    await user.click(saveButton);
    expect(host.requests("set_secret"), "all lines should be sent").toEqual([
      { server: "files", header: "far.key", value: "line 1\nline 2" },
    ]);
    await waitFor(() => expect(field, "the field should be cleared").toHaveValue(""));
    expect(screen.getByText("Saved."), "the save should be confirmed").toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });
});

describe("the settings tab", () => {
  test("warns at once of a program that does not exist", async () => {
    await showServerTab(
      "settings",
      {},
      {
        check_server_command: () => ({
          ...{ isProgramMissing: true, isFolderMissing: false, isFolderRelative: false },
        }),
      },
    );
    expect(await screen.findByText(/This program was not found on this computer/)).toBeVisible();
  });

  test("changes name and command, and warns that the start requires consent again", async () => {
    const host = await showServerTab("settings");
    const save = await screen.findByRole("button", { name: "Save" });
    expect(save, "the button should be disabled without a change").toBeDisabled();
    const name = screen.getByRole("textbox", { name: "Name" });
    await user.clear(name);
    await user.type(name, "papers");
    expect(
      screen.queryByText(/needs your approval again/),
      "a new name should require no consent",
    ).toBeNull();
    await user.click(screen.getByRole("button", { name: "Remove argument 1" }));
    expect(
      screen.getByText(/needs your approval again/),
      "a new command should require consent",
    ).toBeVisible();
    await user.click(save);
    expect(host.requests("update_server"), "all changes should be sent together").toEqual([
      {
        server: "files",
        name: "papers",
        config: {
          ...{ type: "stdio", command: "npx", args: ["server-filesystem", "/home/ann"] },
          ...{ env: {}, cwd: null, revision: null },
        },
      },
    ]);
    expect(router.current, "the page should follow the name").toMatchObject({ name: "papers" });
  });

  test("rejects a taken name, and follows changes of the file once the own are discarded", async () => {
    const host = await showServerTab("settings");
    const name = await screen.findByRole("textbox", { name: "Name" });
    await user.clear(name);
    await user.type(name, "git");
    await user.click(screen.getByRole("button", { name: "Save" }));
    expect(screen.getByText("Another server has this name.")).toBeVisible();
    expect(host.requests("update_server"), "nothing should be sent").toEqual([]);
    host.send({ type: "server_changed", server: sampleServer({ pid: 1 }) });
    expect(
      screen.getByRole("textbox", { name: "Name" }),
      "the edited value should survive a change of the state",
    ).toHaveValue("git");
    const config = { ...sampleServer().config, command: "deno" };
    host.send({ type: "server_changed", server: sampleServer({ config }) });
    expect(await screen.findByText(/stored settings have changed/)).toBeVisible();
    expect(screen.getByRole("textbox", { name: "Name" })).toHaveValue("git");
    await user.click(screen.getByRole("button", { name: "Discard changes" }));
    await waitFor(() =>
      expect(
        screen.getByRole("textbox", { name: "Command" }),
        "the value should be that of the file",
      ).toHaveValue("deno"),
    );
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });
});

describe("the roots tab", () => {
  test("picks, adds and removes folders, and shows when nothing is decided", async () => {
    const host = await showServerTab(
      "roots",
      {},
      { pick_folder: () => ({ folder: "/home/ann/trip" }) },
    );
    expect(await screen.findByText(/Not decided yet/)).toBeVisible();
    await user.click(screen.getByRole("button", { name: "Add a folder…" }));
    expect(host.requests("set_roots").at(-1), "the selected folder should be added").toEqual({
      server: "files",
      folders: ["/home/ann/trip"],
    });
    host.send({
      type: "server_changed",
      server: sampleServer({
        roots: { decided: true, folders: ["/home/ann/trip"], sentFolders: ["/home/ann/trip"] },
      }),
    });
    await user.type(screen.getByRole("textbox", { name: "Or type a path" }), "/srv/x{Enter}");
    expect(host.requests("set_roots").at(-1)?.folders, "the typed folder should be added").toEqual([
      "/home/ann/trip",
      "/srv/x",
    ]);
    expect(
      screen.queryByText(/Not decided yet/),
      "the note should be removed after a decision",
    ).toBeNull();
    await user.click(screen.getByRole("button", { name: "Remove /home/ann/trip" }));
    expect(host.requests("set_roots").at(-1)?.folders, "all folders should be removed").toEqual([]);
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  test("E7: a sandbox without folders leaves nothing to decide", async () => {
    const sandbox = { folders: [], network: { preset: "files_only" as const } };
    const config = (folders: Sandbox["folders"]): ServerConfig => ({
      ...{ type: "stdio", command: "npx", args: [], env: {}, secretEnv: [], cwd: null },
      ...{ revision: null, sandbox: { ...sandbox, folders } },
    });
    const host = await showServerTab("roots", { config: config([]) });
    expect(await screen.findByText(/receives none, and Drawbridge does not ask/)).toBeVisible();
    expect(screen.queryByText(/Not decided yet/), "nothing is undecided").toBeNull();
    const folder = { path: "/home/ann/trip", access: "read" as const };
    host.send({ type: "server_changed", server: sampleServer({ config: config([folder]) }) });
    expect(
      await screen.findByText(/Not decided yet/),
      "the user decides once the sandbox contains a folder",
    ).toBeVisible();
  });

  test("notes that a folder contains server settings, with a link to the import", async () => {
    const folder = "/home/ann/work";
    const roots = { decided: true, folders: [folder, "/srv/x"], sentFolders: [folder, "/srv/x"] };
    const files = (path: string) => (path === folder ? [".mcp.json"] : []);
    const host = await showServerTab(
      "roots",
      { roots },
      {
        list_project_files: (request) => ({ files: files(request.folder) }),
        find_import_candidates: () => ({
          searchedApps: [],
          apps: [],
          needsWorkspace: false,
          problems: [],
        }),
      },
    );
    expect(await screen.findByText(/has its own servers: \.mcp\.json/)).toBeVisible();
    expect(host.requests("find_import_candidates"), "nothing should be read yet").toEqual([]);
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.click(screen.getByRole("button", { name: `Review the servers of ${folder}` }));
    expect(router.current).toEqual({ at: "import", project: folder });
    const source = { app: null, project: folder, workspace: null };
    expect(host.requests("find_import_candidates"), "only this folder should be read").toEqual([
      source,
    ]);
  });

  test("ignores a closed dialog", async () => {
    const host = await showServerTab("roots", {}, { pick_folder: () => ({ folder: null }) });
    await user.click(await screen.findByRole("button", { name: "Add a folder…" }));
    expect(host.requests("set_roots"), "nothing should be changed").toEqual([]);
  });
});

describe("the permissions tab", () => {
  const grant = (changes: Partial<Grant>): Grant => ({
    id: "g",
    server: "files",
    tool: null,
    scope: "always",
    since: Date.now(),
    boundHash: "0123456789abcdef",
    conversation: null,
    expiresAt: null,
    ...changes,
  });

  test("lists the grants of this server and revokes them", async () => {
    let grants = [
      grant({ id: "1" }),
      grant({ id: "2", tool: "read_file", scope: "session" }),
      grant({ id: "3", server: "git", tool: "git_push" }),
    ];
    const host = await showServerTab(
      "permissions",
      {},
      {
        list_grants: () => ({ grants }),
        revoke_grant: ({ id }) => {
          grants = grants.filter((one) => one.id !== id);
          return {};
        },
      },
    );
    expect(
      await screen.findByText("until Drawbridge closes"),
      "the validity should be shown",
    ).toBeVisible();
    expect(
      screen.queryByText("git_push"),
      "grants of other servers should not be listed",
    ).toBeNull();
    await user.click(screen.getByRole("button", { name: "Revoke read_file" }));
    expect(host.requests("revoke_grant"), "the grant should be revoked by its id").toEqual([
      { id: "2" },
    ]);
    expect(
      await screen.findByText("Revoked"),
      "the grant should be marked as revoked",
    ).toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    grants = [];
    host.send({ type: "audit_changed" });
    await waitFor(() =>
      expect(screen.queryByText("its command"), "the list should be read again").toBeNull(),
    );
  });

  test("binds grants of a remote server to its URL", async () => {
    await showServerTab("permissions", remoteServerFields, {
      list_grants: () => ({ grants: [grant({})] }),
    });
    expect(
      await screen.findByText("its address", { selector: "td" }),
      "the URL should be mentioned",
    ).toBeVisible();
    expect(screen.queryByText("its command"), "a remote server should have no command").toBeNull();
  });

  test("mutes after confirmation, and unmutes", async () => {
    const host = await showServerTab("permissions", {}, { list_grants: () => ({ grants: [] }) });
    await user.click(await screen.findByRole("button", { name: "Deny all its requests" }));
    const dialog = await screen.findByRole("dialog");
    await user.click(within(dialog).getByRole("button", { name: "Deny all its requests" }));
    expect(
      host.requests("deny_all_consent_requests"),
      "current and later requests should be denied",
    ).toEqual([{ server: "files", mute: true }]);
    host.send({ type: "server_changed", server: sampleServer({ muted: true }) });
    await user.click(await screen.findByRole("button", { name: "Allow its requests again" }));
    expect(host.requests("unmute_server"), "the server should be unmuted").toEqual([
      { server: "files" },
    ]);
  });
});
