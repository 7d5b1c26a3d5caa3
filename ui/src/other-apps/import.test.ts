import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, test } from "vitest";

import type { ImportCandidates, ImportOutcome } from "$lib/api/generated";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import { startFakeHost, type FakeHost } from "$lib/testing/fake-host";

import {
  candidate,
  cursorApp,
  importCandidates,
  importNote,
  CURSOR_SETTINGS_PATH,
} from "./fixtures";
import ImportView from "./ImportView.svelte";

let listed: ImportCandidates | Error;
let outcomes: Record<string, Partial<ImportOutcome>>;
let host: FakeHost;
const user = userEvent.setup();

beforeEach(async () => {
  listed = importCandidates([]);
  outcomes = {};
  host = await startFakeHost({
    find_import_candidates: () => {
      if (listed instanceof Error) throw { code: "system", message: listed.message };
      return listed;
    },
    import_servers: ({ ids }) => ({
      outcomes: ids.map((id) => {
        const name = id.replace("id of ", "");
        const nothing = { onlyThisRun: null, taken: [], unset: [], problem: null };
        return { id, name, ...nothing, ...outcomes[name] };
      }),
    }),
  });
  router.go({ at: "import" });
  render(ImportView);
});

async function scan(candidates: ImportCandidates) {
  listed = candidates;
  await user.click(screen.getByRole("button", { name: "Search for servers" }));
}

const row = (name: string) => screen.findByRole("group", { name });
const box = (name: string) => screen.getByRole("checkbox", { name });
const button = (name: string | RegExp) => screen.getByRole("button", { name });

describe("scanning", () => {
  test("starts only on request", async () => {
    expect(host.commands, "nothing should be read automatically").toEqual([]);
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await scan(importCandidates([cursorApp(candidate("git"))]));
    await row("git");
    expect(host.requests("find_import_candidates"), "all apps should be scanned once").toEqual([
      { app: null, project: null, workspace: null },
    ]);
    expect(host.requests("import_servers"), "nothing should be imported automatically").toEqual([]);
  });

  test("shows its progress, and moves the focus to the result", async () => {
    let finish: (value: ImportCandidates) => void = () => undefined;
    host.answers.find_import_candidates = () => new Promise((done) => (finish = done));
    await user.click(button("Search for servers"));
    expect(screen.getByRole("status"), "the progress should be announced").toHaveTextContent(
      "Searching for servers…",
    );
    await user.click(button("Search for servers"));
    expect(
      host.requests("find_import_candidates").length,
      "a second click should scan nothing",
    ).toBe(1);
    finish(importCandidates([cursorApp(candidate("git"))]));
    const heading = await screen.findByRole("heading", { name: "Found 1 server" });
    await waitFor(() => expect(heading, "the result should be focused").toHaveFocus());
  });

  test("that finds nothing lists the searched places, and offers the other way", async () => {
    await scan(importCandidates([]));
    expect(await screen.findByText("No servers found in other apps")).toBeVisible();
    expect(screen.getByText(/Claude Desktop, Cursor, Zed/), "apps should be listed").toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.tab();
    expect(button("Paste JSON"), "the alternative should be focused").toHaveFocus();
    await user.keyboard("{Enter}");
    expect(router.current.at).toBe("add-server");
  });

  test("shows a failure, and can be repeated", async () => {
    listed = new Error("the home folder can't be read");
    await user.click(button("Search for servers"));
    expect(await screen.findByText("the home folder can't be read")).toBeVisible();
    listed = importCandidates([cursorApp(candidate("git"))]);
    await user.tab();
    expect(button("Try again"), "the button should be focused").toHaveFocus();
    await user.keyboard("{Enter}");
    await row("git");
    expect(screen.queryByRole("alert"), "the error should be cleared").toBeNull();
  });

  test("lists each skipped file with line and column", async () => {
    const problem = { file: "/home/ann/.codex/config.toml", line: 3, column: 7, message: "no =" };
    const unplaced = { file: "/home/ann/.zed", line: null, column: null, message: "it is no file" };
    await scan(importCandidates([cursorApp(candidate("git"))], { problems: [problem, unplaced] }));
    const list = await screen.findByRole("region", { name: "Files that could not be read" });
    for (const text of [problem.file, "Line 3, column 7", "no =", unplaced.file, "it is no file"]) {
      expect(within(list).getByText(text), text).toBeVisible();
    }
    expect(within(list).getAllByText(/^Line/).length, "no other position should be listed").toBe(1);
    expect(screen.getByText(/^2 files could not be read/), "a total should be shown").toBeVisible();
    expect(box("git"), "other servers should not be affected").toBeChecked();
  });

  test("shows file problems even if no server was found", async () => {
    const problem = { file: CURSOR_SETTINGS_PATH, line: 1, column: 2, message: "expected a value" };
    await scan(importCandidates([], { problems: [problem] }));
    expect(await screen.findByText("expected a value")).toBeVisible();
  });
});

describe("a server", () => {
  test("is preselected if new, disabled if existing or unusable, and optional if its name is taken", async () => {
    await scan(
      importCandidates([
        cursorApp(
          candidate("git"),
          candidate("here", { status: "same", notes: [importNote("set_up_here", "", "here")] }),
          candidate("bad", {
            status: "unsupported",
            notes: [importNote("reason", "its transport is ws")],
          }),
          candidate("files-2", {
            status: "conflict",
            origins: [{ app: "cursor", file: CURSOR_SETTINGS_PATH, name: "files" }],
            notes: [importNote("name_taken", '"files" is another server here', "files")],
          }),
        ),
      ]),
    );
    await row("git");
    expect(box("git"), "a new server should be preselected").toBeChecked();
    for (const name of ["here", "bad"]) {
      expect(box(name), name).not.toBeChecked();
      expect(box(name), name).toBeDisabled();
    }
    expect(
      within(await row("bad")).getByText("its transport is ws"),
      "the reason should be shown",
    ).toBeVisible();
    expect(within(await row("here")).getByText("Already set up")).toBeVisible();
    expect(box("files"), "a server with a taken name should not be preselected").not.toBeChecked();
    expect(box("files"), "it should include the new name").toHaveAccessibleDescription(/“files-2”/);
    expect(
      within(await row("files")).queryByText(/another server here/),
      "the conflict should be mentioned once",
    ).toBeNull();
    await user.click(box("files"));
    await user.click(button("Import 2 servers"));
    const source = { app: null, project: null, workspace: null };
    expect(host.requests("import_servers"), "selected servers should be imported in order").toEqual(
      [{ source, ids: ["id of git", "id of files-2"], taken: [] }],
    );
  });

  test("shows its complete command or address and the handling of its other settings", async () => {
    const long = `npx -y git ${"x".repeat(900)} --end`;
    await scan(
      importCandidates([
        cursorApp(
          candidate("git", {
            target: long,
            env: [
              { name: "TOKEN", kind: "secret", requiresInput: false, source: null },
              { name: "LEVEL", kind: "literal", requiresInput: false, source: null },
              { name: "FOLDER", kind: "reference", requiresInput: false, source: null },
              { name: "KEY", kind: "reference", requiresInput: true, source: null },
            ],
            isDisabled: true,
            tools: { enabled: ["log"], disabled: ["push", "reset"] },
            notes: [
              importNote("not_used", "English is not shown", "sandbox", "timeout"),
              importNote("off", "it is turned off there"),
              importNote(
                "denied_tools",
                'models are not offered these tools, as in its app: "push"',
              ),
              importNote("reason", "something else"),
            ],
          }),
          candidate("far", { transport: "http", target: "https://example.com/mcp" }),
        ),
      ]),
    );
    const git = within(await row("git"));
    expect(git.getByRole("checkbox"), "a disabled server should not be selected").not.toBeChecked();
    await user.click(git.getByRole("button", { name: "Show all" }));
    expect(git.getByText(long), "the whole command should be shown").toBeVisible();
    const fate = (name: string) => git.getByText(name).closest("li");
    expect(fate("TOKEN")).toHaveTextContent("Stored in the keychain");
    expect(fate("LEVEL")).toHaveTextContent("Stored as text in Drawbridge's settings file");
    expect(fate("FOLDER")).toHaveTextContent("Stored as is. Enter the value after the import.");
    expect(fate("KEY")).toHaveTextContent("Enter it after the import");
    expect(git.getByText("Off in Cursor")).toBeVisible();
    expect(git.getByText("push, reset"), "disabled tools should be listed").toBeVisible();
    expect(git.getByText("log"), "enabled tools should be listed").toBeVisible();
    expect(
      git.getByText(/^These settings are not imported: sandbox, timeout/),
      "omitted settings should be listed in the language of the page",
    ).toBeVisible();
    expect(git.getByText("something else"), "the text of the host should be shown").toBeVisible();
    expect(git.queryByText("English is not shown"), "the translation should replace it").toBeNull();
    expect(git.queryByText(/turned off there|as in its app/), "notes should not repeat").toBeNull();
    const far = within(await row("far"));
    expect(far.getByText("Contacts")).toBeVisible();
    expect(far.getByText("https://example.com/mcp")).toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  test("of several apps is one row with all sources", async () => {
    const zed = { app: "zed", file: "/home/ann/.config/zed/settings.json", name: "my git" };
    const git = candidate("git");
    await scan(
      importCandidates([
        cursorApp(
          candidate("git", {
            origins: [...git.origins, zed],
            notes: [importNote("also_in", "also in Zed", "Zed", "my git")],
          }),
        ),
        { id: "zed", name: "Zed", files: [{ path: zed.file, servers: 1 }], servers: [] },
      ]),
    );
    const places = within(await row("git"));
    expect(places.getByText(/Zed as “my git”/), "the name of the app should be used").toBeVisible();
    expect(places.queryByText(/as “git”/), "an unchanged name should not be mentioned").toBeNull();
    expect(places.getByText(zed.file), "the file should be shown").toBeVisible();
    const section = within(screen.getByRole("region", { name: "Zed" }));
    expect(section.queryByRole("checkbox"), "the source should not be selectable").toBeNull();
    expect(section.getByText(/listed under the apps above/)).toBeVisible();
  });

  test("can't hide or reorder its name, command or notes", async () => {
    const turned = "git\u202egpj.exe";
    const hidden = candidate(turned, {
      target: `sh -c \u202e'moc.live'\u200b ${" ".repeat(60)}rm`,
      env: [{ name: "A\u2066B", kind: "literal", requiresInput: false, source: null }],
      notes: [importNote("reason", "left out: \u202eabc"), importNote("not_used", "", "\u202dx")],
    });
    await scan(importCandidates([cursorApp(hidden)]));
    const all = within(await row("git[U+202E]gpj.exe"));
    expect(box("git[U+202E]gpj.exe"), "the name should contain the named character").toBeChecked();
    const named = ["U+202E", "U+200B", "␣×61", "U+2066", "U+202D"];
    for (const text of named) expect(all.getAllByText(text).length, text).toBeGreaterThan(0);
    const text = screen.getByRole("region", { name: "Cursor" }).textContent;
    expect(text, "no hidden character should remain").not.toMatch(/[\u202d\u202e\u200b\u2066]/);
  });

  test("that is incomplete is not preselected and lists its missing values", async () => {
    const placeholders = [
      { place: { is: "argument" as const, number: 2 }, text: "<secret>" },
      { place: { is: "client_secret" as const }, text: "" },
    ];
    const notes = [importNote("placeholder", 'argument 2 is "<secret>"')];
    await scan(
      importCandidates([cursorApp(candidate("git", { placeholders, notes }), candidate("whole"))]),
    );
    const git = within(await row("git"));
    expect(box("git"), "an incomplete server should not be preselected").not.toBeChecked();
    expect(box("whole")).toBeChecked();
    expect(git.getByText("Incomplete")).toBeVisible();
    expect(git.getByText("Argument 2").closest("li")).toHaveTextContent("<secret>");
    expect(git.getByText("Client secret")).toBeVisible();
    expect(git.queryByText(/argument 2 is/), "the missing value should be listed once").toBeNull();
    await user.click(box("git"));
    await user.click(button("Import 2 servers"));
    const list = within(await screen.findByRole("region", { name: "Values to enter" }));
    expect(list.getByText("Argument 2").closest("ul")).toHaveTextContent("<secret>");
    expect(list.getByRole("button", { name: "Open settings of git" })).toHaveTextContent("git");
  });

  test("shows its folder, sandbox and sign-in", async () => {
    const sandbox = {
      folders: [{ path: "/home/ann/notes", access: "write" as const }],
      network: { preset: "named_hosts" as const, hosts: ["a.example"] },
    };
    const signIn = { clientId: "abc", hasSecret: true, issuer: null, scopes: ["read", "write"] };
    await scan(
      importCandidates([
        cursorApp(
          candidate("local", { folder: "/home/ann/work", sandbox }),
          candidate("far", { transport: "http", target: "https://a.example/mcp", signIn }),
        ),
      ]),
    );
    const local = within(await row("local"));
    expect(local.getByText("/home/ann/work"), "the folder should be shown").toBeVisible();
    expect(local.getByText("/home/ann/notes").closest("li")).toHaveTextContent("Read and write");
    expect(local.getByText("a.example"), "the hosts should be shown").toBeVisible();
    const far = within(await row("far"));
    expect(far.getByText("abc"), "the client ID should be shown").toBeVisible();
    expect(far.getByText("read write"), "the scopes should be shown").toBeVisible();
    expect(far.getByText("The client secret is stored in the keychain.")).toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  test("that is unusable like another one is listed separately", async () => {
    const broken = candidate("server", {
      status: "unsupported",
      target: "''",
      notes: [importNote("reason", "no command")],
    });
    await scan(importCandidates([cursorApp(broken, { ...broken }, candidate("git"))]));
    const rows = await screen.findAllByRole("group", { name: "server" });
    expect(rows.length).toBe(2);
    for (const row of rows)
      expect(within(row).queryByText("Runs"), "there should be no command").toBeNull();
  });
});

test("selects all or none of an app, and counts them on the button", async () => {
  const zed = { id: "zed", name: "Zed", files: [{ path: "/z", servers: 2 }] };
  await scan(
    importCandidates([
      cursorApp(candidate("a"), candidate("b"), candidate("c", { status: "same" })),
      { ...zed, servers: [candidate("d", { status: "conflict" }), candidate("e")] },
    ]),
  );
  await row("a");
  expect(button("Import 3 servers"), "all new servers should be selected").toBeEnabled();
  await user.click(button("Select none of Cursor"));
  expect(box("a"), "no server of the app should be selected").not.toBeChecked();
  expect(box("e"), "servers of another app should stay selected").toBeChecked();
  await user.click(button("Select all of Zed"));
  expect(button("Import 2 servers")).toBeEnabled();
  await user.click(button("Select none of Zed"));
  expect(button("Import servers"), "an empty selection should disable the button").toBeDisabled();
  await user.click(button("Select all"));
  expect(button("Import 4 servers"), "servers of all apps should be selected").toBeEnabled();
  await user.click(button("Select none"));
  expect(button("Import servers")).toBeDisabled();
  await user.click(button("Select all of Cursor"));
  expect(box("c"), "an existing server should not be selected").not.toBeChecked();
  expect(button("Import 2 servers")).toBeEnabled();
});

test("works by keyboard: scan, deselect one, import, enter a value", async () => {
  const key = { name: "KEY", kind: "reference", requiresInput: true, source: null } as const;
  listed = importCandidates([cursorApp(candidate("a"), candidate("b", { env: [key] }))]);
  expect(button("Search for servers"), "the button should be focused at first").toHaveFocus();
  await user.keyboard("{Enter}");
  await row("a");
  const tabTo = async (element: HTMLElement) => {
    for (let stops = 0; stops < 20 && document.activeElement !== element; stops++) await user.tab();
    expect(element).toHaveFocus();
  };
  await tabTo(box("a"));
  await user.keyboard(" ");
  await tabTo(button("Import 1 server"));
  await user.keyboard("{Enter}");
  const heading = await screen.findByRole("heading", { name: "1 server imported" });
  await waitFor(() => expect(heading, "the result should be focused").toHaveFocus());
  await tabTo(button("Open settings of b"));
  await user.keyboard("{Enter}");
  expect(router.current).toEqual({ at: "server", name: "b", tab: "settings" });
});

describe("after the import", () => {
  test("shows each outcome, and that nothing was started", async () => {
    outcomes = {
      b: { name: null, problem: "it changed since it was listed: review it again" },
      c: { onlyThisRun: "there is no keychain" },
      d: { onlyThisRun: "there is no keychain" },
    };
    await scan(
      importCandidates([cursorApp(...["a", "b", "c", "d"].map((name) => candidate(name)))]),
    );
    await row("a");
    await user.click(button("Import 4 servers"));
    expect(await screen.findByRole("heading", { name: "3 servers imported" })).toBeVisible();
    expect(screen.getByText(/Nothing was started\. Each server asks/)).toBeVisible();
    expect(screen.getByText("b was not imported")).toBeVisible();
    expect(
      screen.getByText(/it changed since it was listed/),
      "the reason of a failure should be shown",
    ).toBeVisible();
    expect(screen.getByText("Secrets are stored only until Drawbridge closes")).toBeVisible();
    expect(screen.getByText("there is no keychain"), "the reason should appear once").toBeVisible();
    expect(screen.getByText("c, d"), "the affected servers should be named").toBeVisible();
    expect(screen.queryByText("Values to enter"), "there should be no values to enter").toBeNull();
    expect(host.requests("start_server"), "nothing should be started").toEqual([]);
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.click(button("Done"));
    expect(router.current, "the first imported server should be shown").toMatchObject({
      at: "server",
      name: "a",
    });
  });

  test("lists missing values of imported servers only", async () => {
    const value = (name: string) =>
      ({ name, kind: "reference", requiresInput: true, source: null }) as const;
    outcomes = { b: { name: null, problem: "no" } };
    await scan(
      importCandidates([
        cursorApp(
          candidate("a", {
            headers: [
              value("Authorization"),
              { ...value("X-Trace"), kind: "secret", requiresInput: false },
            ],
            env: [value("KEY"), { ...value("FOLDER"), requiresInput: false }],
          }),
          candidate("b", { env: [value("OTHER")] }),
        ),
      ]),
    );
    await row("a");
    await user.click(button("Import 2 servers"));
    const list = within(await screen.findByRole("region", { name: "Values to enter" }));
    expect(list.getByText("KEY, FOLDER, Authorization")).toBeVisible();
    expect(list.queryByText("OTHER"), "values of other servers should not be listed").toBeNull();
    await user.click(button("Search again"));
    expect(host.requests("find_import_candidates").length, "the sources should be read again").toBe(
      2,
    );
  });

  test("keeps the selection after a failure", async () => {
    await scan(importCandidates([cursorApp(candidate("a"), candidate("b"))]));
    await row("a");
    await user.click(box("b"));
    host.answers.import_servers = () => {
      throw { code: "invalid", message: "too many at once" };
    };
    await user.click(button("Import 1 server"));
    expect(await screen.findByText("too many at once")).toBeVisible();
    expect(button("Import 1 server"), "the import should be repeatable").toBeEnabled();
  });
});
