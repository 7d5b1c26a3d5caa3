import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, test } from "vitest";

import type { ImportedServer, ImportPreview } from "$lib/api/generated";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import { sampleServer, startFakeHost, type FakeHost } from "$lib/testing/fake-host";

import { importNote } from "../other-apps/fixtures";

import AddServer from "./AddServer.svelte";

function imported(name: string, changes: Partial<ImportedServer> = {}): ImportedServer {
  return {
    name,
    config: {
      ...{ type: "stdio", command: "npx", args: ["-y", name, "/a folder"] },
      ...{ env: {}, cwd: null, revision: null },
    },
    notes: [],
    usable: true,
    ...changes,
  };
}

let preview: ImportPreview;
let refused: string[];
let host: FakeHost;
const user = userEvent.setup();

beforeEach(async () => {
  preview = { servers: [], problem: null };
  refused = [];
  host = await startFakeHost(
    {
      parse_import: () => preview,
      add_server: ({ name }) => {
        if (refused.includes(name)) throw { code: "config", message: `can't write ${name}` };
        return { onlyThisRun: null };
      },
      pick_folder: () => ({ folder: "/home/ann/work" }),
    },
    { servers: [sampleServer({ name: "files" })] },
  );
  router.go({ at: "add-server" });
  render(AddServer);
});

async function paste(text: string) {
  await user.click(screen.getByRole("textbox", { name: /README/ }));
  await user.paste(text);
}

describe("pasted text", () => {
  test("is not added in an outdated version", async () => {
    preview.servers = [imported("git")];
    await paste("{");
    const add = await screen.findByRole("button", { name: "Add 1 server" });
    await waitFor(() =>
      expect(add, "the result should be for the current text").not.toHaveAttribute("aria-busy"),
    );
    preview = { servers: [imported("other")], problem: null };
    await paste("}");
    await user.click(add);
    expect(host.requests("add_server"), "nothing should be added from an outdated text").toEqual(
      [],
    );
    await screen.findByRole("group", { name: "other" });
    await user.click(screen.getByRole("button", { name: "Add 1 server" }));
    expect(
      host.requests("add_server"),
      "the server of the current text should be added",
    ).toMatchObject([{ name: "other" }]);
  });

  test("is parsed while typing, and its server is added with an edited name", async () => {
    const notes = [
      {
        ...importNote("placeholder", "", "/a folder"),
        place: { is: "argument" as const, number: 3 },
      },
      { ...importNote("empty", ""), place: { is: "value" as const, name: "KEY" } },
    ];
    preview.servers = [imported("git", { notes })];
    await paste("{}");
    const found = await screen.findByRole("group", { name: "git" });
    expect(host.requests("parse_import"), "the text should be checked").toEqual([{ text: "{}" }]);
    expect(
      within(found).getByText("npx -y git '/a folder'"),
      "the exact command should be shown",
    ).toBeVisible();
    expect(within(found).getByText(/placeholder/), "the warning should be shown").toBeVisible();
    expect(within(found).getAllByRole("listitem").length, "all notes should be in one list").toBe(
      notes.length,
    );
    const name = within(found).getByRole("textbox", { name: "Name" });
    await user.clear(name);
    await user.type(name, "my git");
    await user.click(screen.getByRole("button", { name: "Add 1 server" }));
    expect(host.requests("add_server"), "the server should be added as it was shown").toEqual([
      { name: "my git", config: preview.servers[0]?.config },
    ]);
    expect(router.current, "the page of the server should be opened").toEqual({
      at: "server",
      name: "my git",
      tab: "overview",
    });
    expect(host.requests("start_server"), "nothing should be started").toEqual([]);
  });

  test("with several servers adds the selected ones, and keeps failed ones with the reason", async () => {
    preview.servers = [
      imported("a"),
      imported("b"),
      imported("c"),
      imported("far", { usable: false }),
    ];
    refused = ["b"];
    await paste("{}");
    expect(await screen.findByText("Found 4 servers")).toBeVisible();
    expect(
      screen.getByRole("checkbox", { name: "Add far" }),
      "an incomplete server should not be preselected",
    ).not.toBeChecked();
    await user.click(screen.getByRole("checkbox", { name: "Add c" }));
    await user.click(screen.getByRole("button", { name: "Add 2 servers" }));
    expect(
      host.requests("add_server").map((r) => r.name),
      "the selected servers should be added in order",
    ).toEqual(["a", "b"]);
    expect(
      screen.queryByRole("group", { name: "a" }),
      "the added server should be removed from the list",
    ).toBeNull();
    expect(
      within(screen.getByRole("group", { name: "b" })).getByText("can't write b"),
      "the failed server should show the reason",
    ).toBeVisible();
    expect(router.current.at, "the page should stay open").toBe("add-server");
  });

  test("with a URL shows the fields that it requires, and stores its key in the keychain", async () => {
    preview.servers = [
      imported("example", {
        config: {
          ...{ type: "http", url: "https://example.com/mcp", headers: [] },
          ...{ kind: null, auth: null, revision: null },
        },
      }),
    ];
    await paste("https://example.com/mcp");
    await screen.findByRole("group", { name: "example" });
    expect(
      screen.getByRole("textbox", { name: "Address" }),
      "the settings should be expanded",
    ).toHaveValue("https://example.com/mcp");
    await user.click(screen.getByRole("button", { name: "Add header" }));
    await user.keyboard("Authorization");
    await user.click(screen.getByLabelText("Value of Authorization"));
    await user.keyboard("Bearer s3cret");
    expect(
      screen.getByLabelText("Value of Authorization"),
      "the value should be hidden",
    ).toHaveAttribute("type", "password");
    await user.selectOptions(screen.getByRole("combobox", { name: "Transport" }), "sse");
    await user.click(screen.getByText("Advanced"));
    await user.selectOptions(
      screen.getByRole("combobox", { name: "Protocol revision" }),
      "2024-11-05",
    );
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.click(screen.getByRole("button", { name: "Add 1 server" }));
    expect(host.requests("add_server"), "the entered values should be sent").toEqual([
      {
        name: "example",
        config: {
          type: "http",
          url: "https://example.com/mcp",
          headers: [{ name: "Authorization", value: "Bearer s3cret", secret: true }],
          auth: null,
          kind: "sse",
          revision: "2024-11-05",
        },
      },
    ]);
  });

  test("E12: has a field for each VS Code input, whose value becomes part of the configuration", async () => {
    const about = "${input:key} stands for a value that the other app asks for: The key.";
    preview.servers = [
      imported("git", {
        config: {
          ...{ type: "stdio", command: "npx", args: ["git", "--in=${input:dir}"], cwd: null },
          ...{ env: { API_KEY: "${input:key}" }, secretEnv: ["API_KEY"], revision: null },
        },
        notes: [
          importNote("input", "", "${input:key}", "The key"),
          {
            ...importNote("placeholder", "", "--in=${input:dir}"),
            place: { is: "argument", number: 2 },
          },
          importNote("reason", "it is old"),
        ],
      }),
    ];
    await paste("{}");
    const found = within(await screen.findByRole("group", { name: "git" }));
    expect(found.getByText(about), "the note should be shown at first").toBeVisible();
    expect(found.getByLabelText("key"), "a secret should be hidden").toHaveAttribute(
      "type",
      "password",
    );
    await user.type(found.getByLabelText("key"), "s3cret $&");
    await user.type(found.getByLabelText("dir"), "/home/ann");
    expect(found.getByText("npx git --in=/home/ann"), "the exact command").toBeVisible();
    expect(
      found.getAllByRole("listitem").map((item) => item.textContent?.trim()),
      "the notes about the entered values should vanish",
    ).toEqual(["it is old"]);
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.click(screen.getByRole("button", { name: "Add 1 server" }));
    expect(host.requests("add_server")[0]?.config, "the values should be sent").toMatchObject({
      args: ["git", "--in=/home/ann"],
      env: { API_KEY: "s3cret $&" },
      secretEnv: ["API_KEY"],
    });
  });

  test("E12: a password in an argument is hidden, and stays noted as plain text", async () => {
    preview.servers = [
      imported("git", {
        config: {
          ...{ type: "stdio", command: "npx", args: ["git", "${input:pin}"], cwd: null },
          ...{ env: { TOKEN: "" }, secretEnv: ["TOKEN"], revision: null },
        },
        notes: [
          {
            ...importNote("plain_password", "", "${input:pin}"),
            place: { is: "argument", number: 2 },
          },
        ],
      }),
    ];
    await paste("{}");
    const found = within(await screen.findByRole("group", { name: "git" }));
    const note = /^Argument 2: \$\{input:pin\} is a password\..*plain text/;
    expect(found.getByText(note)).toBeVisible();
    expect(found.getByLabelText("pin"), "the password should be hidden").toHaveAttribute(
      "type",
      "password",
    );
    await user.type(found.getByLabelText("pin"), "s3cret");
    expect(found.getByText(note), "the value is still stored as plain text").toBeVisible();
    await user.click(found.getByRole("button", { name: "Change…" }));
    await user.click(found.getByRole("button", { name: /^Remove argument 2/ }));
    expect(found.getByText(note), "the password is used nowhere yet").toBeVisible();
    const value = found.getByLabelText("Value of TOKEN");
    await user.click(value);
    await user.paste("${input:pin}");
    expect(found.queryByText(note), "the keychain will store the value").toBeNull();
    await user.click(screen.getByRole("button", { name: "Add 1 server" }));
    expect(host.requests("add_server")[0]?.config).toMatchObject({
      ...{ args: ["git"], env: { TOKEN: "s3cret" }, secretEnv: ["TOKEN"] },
    });
  });

  test("E12: an input in the address is filled in before the address is checked", async () => {
    preview.servers = [
      imported("far", {
        config: {
          ...{ type: "http", url: "https://${input:host}/mcp", headers: [], kind: null },
          ...{ auth: null, revision: null },
        },
        usable: false,
      }),
    ];
    await paste("{}");
    await user.click(await screen.findByRole("checkbox", { name: "Add far" }));
    await user.click(screen.getByRole("button", { name: "Add 1 server" }));
    expect(host.requests("add_server"), "the address should be invalid").toEqual([]);
    await user.type(screen.getByLabelText("host"), "example.com");
    await user.click(screen.getByRole("button", { name: "Add 1 server" }));
    expect(host.requests("add_server")).toMatchObject([
      { config: { url: "https://example.com/mcp" } },
    ]);
  });

  test("E12: a warning vanishes once its text was replaced, and no other one does", async () => {
    const texts = [
      "Argument 3: /a folder looks like a placeholder. Put your own value there.",
      "KEY is empty. Fill it in if the server needs it.",
      "These settings are not imported: timeout.",
    ];
    preview.servers = [
      imported("git", {
        config: {
          ...{ type: "stdio", command: "npx", args: ["-y", "git", "/a folder"], cwd: null },
          ...{ env: { KEY: "" }, revision: null },
        },
        notes: [
          {
            ...importNote("placeholder", "", "/a folder"),
            place: { is: "argument", number: 3 },
          },
          { ...importNote("empty", ""), place: { is: "value", name: "KEY" } },
          importNote("not_used", "", "timeout"),
        ],
      }),
    ];
    await paste("{}");
    await user.click(await screen.findByRole("button", { name: "Change…" }));
    const notes = () => texts.map((text) => screen.queryByText(text) !== null);
    expect(notes()).toEqual([true, true, true]);
    await user.type(screen.getByLabelText("Value of KEY"), "x");
    expect(notes(), "the note about the variable should vanish").toEqual([true, false, true]);
    await user.type(screen.getByRole("textbox", { name: "Argument 3" }), "s");
    expect(notes(), "the note about the argument should vanish").toEqual([false, false, true]);
    await user.clear(screen.getByLabelText("Value of KEY"));
    expect(notes(), "the note should return with the empty value").toEqual([false, true, true]);
  });

  test("shows that a name is taken, and adds nothing", async () => {
    preview.servers = [imported("files")];
    await paste("{}");
    await user.click(await screen.findByRole("button", { name: "Add 1 server" }));
    expect(screen.getByText("Another server has this name.")).toBeVisible();
    expect(
      screen.getByRole("textbox", { name: "Name" }),
      "the field should be marked as invalid",
    ).toBeInvalid();
    expect(host.requests("add_server"), "nothing should be added").toEqual([]);
  });

  test("allows changing the command before adding", async () => {
    preview.servers = [imported("git")];
    await paste("{}");
    await user.click(await screen.findByRole("button", { name: "Change…" }));
    const argument = screen.getByRole("textbox", { name: "Argument 3" });
    await user.clear(argument);
    await user.type(argument, "/home/ann/my repo");
    await user.click(screen.getByRole("button", { name: "Add 1 server" }));
    expect(
      host.requests("add_server")[0]?.config,
      "the edited argument should be sent",
    ).toMatchObject({
      args: ["-y", "git", "/home/ann/my repo"],
    });
  });

  test("shows the position and reason of a parse error", async () => {
    preview.problem = { file: null, line: 3, column: 7, message: "expected `,` or `}`" };
    const rows = screen.getByRole("textbox", { name: /README/ }).getAttribute("rows");
    await paste('{\n"a":\n  "b" "c"}');
    expect(await screen.findByText("Line 3, column 7")).toBeVisible();
    expect(document.querySelector("mark"), "the place should be marked").toHaveTextContent('"');
    expect(screen.getByRole("textbox", { name: /README/ })).toHaveAttribute("rows", rows);
    expect(screen.getByText("expected `,` or `}`"), "the cause should be shown").toBeVisible();
    expect(
      screen.queryByRole("button", { name: /^Add \d/ }),
      "there should be nothing to add",
    ).toBeNull();
  });
});

test("paths of pasted text are not looked for before they are edited", async () => {
  const looked = { isProgramMissing: false, isFolderMissing: true, isFolderRelative: false };
  host.answers.check_server_command = () => looked;
  const config = { ...imported("git").config, command: "//far/run", cwd: "//far/share" };
  preview.servers = [imported("git", { config })];
  await paste("{");
  await user.click(await screen.findByRole("button", { name: "Change…" }));
  await user.type(screen.getByRole("textbox", { name: "Command" }), "ner{Tab}");
  expect(host.requests("check_server_command"), "the given folder decides").toEqual([]);
  const folder = screen.getByRole("textbox", { name: "Working folder" });
  await user.clear(folder);
  await user.type(folder, "/home/ann{Tab}");
  expect(await screen.findByText(/^The working folder does not exist/)).toBeVisible();
  expect(host.requests("check_server_command")).toEqual([
    { command: "//far/runner", path: null, cwd: "/home/ann" },
  ]);
});

describe("the form", () => {
  beforeEach(async () => {
    await user.click(screen.getByRole("tab", { name: "Fill in" }));
  });

  test("warns of a program and a working folder that do not exist", async () => {
    host.answers.check_server_command = ({ command, cwd }) => ({
      isProgramMissing: command !== "uvx",
      isFolderMissing: cwd === "/home/ann/work",
      isFolderRelative: cwd === "work",
    });
    const command = screen.getByRole("textbox", { name: "Command" });
    await user.type(command, "uvxx{Tab}");
    const warning = /This program was not found on this computer/;
    expect(await screen.findByText(warning)).toBeVisible();
    await user.clear(command);
    await user.type(command, "uvx");
    expect(screen.queryByText(warning), "the warning is about the previous command").toBeNull();
    await user.click(screen.getByRole("button", { name: "Choose…" }));
    expect(await screen.findByText(/^The working folder does not exist/)).toBeVisible();
    expect(screen.queryByText(warning)).toBeNull();
    expect(host.requests("check_server_command").at(-1)).toEqual({
      ...{ command: "uvx", path: null, cwd: "/home/ann/work" },
    });
    const folder = screen.getByRole("textbox", { name: "Working folder" });
    await user.clear(folder);
    await user.type(folder, "work{Tab}");
    expect(await screen.findByText(/must be an absolute path/)).toBeVisible();
    await user.type(screen.getByRole("textbox", { name: "Name" }), "notes");
    await user.click(screen.getByRole("button", { name: "Add server" }));
    expect(host.requests("add_server"), "the warning does not prevent saving").toHaveLength(1);
  });

  test("checks the program again when PATH changes", async () => {
    host.answers.check_server_command = ({ path }) => ({
      ...{ isProgramMissing: path !== null, isFolderMissing: false, isFolderRelative: false },
    });
    const warning = /This program was not found on this computer/;
    await user.type(screen.getByRole("textbox", { name: "Command" }), "uvx{Tab}");
    await user.click(screen.getByRole("button", { name: "Add variable" }));
    await user.keyboard("PATH{Tab}/nowhere{Tab}");
    expect(await screen.findByText(warning)).toBeVisible();
    const secret = screen.getByRole("checkbox", { name: /PATH/ });
    await user.click(secret);
    expect(screen.queryByText(warning), "a secret PATH is not known").toBeNull();
    await user.click(secret);
    expect(await screen.findByText(warning)).toBeVisible();
    await user.click(screen.getByRole("button", { name: /^Remove .*PATH/ }));
    await waitFor(() => expect(screen.queryByText(warning)).toBeNull());
    expect(host.requests("check_server_command").at(-1)).toMatchObject({ path: null });
  });

  test("adds a server by keyboard alone", async () => {
    await user.type(screen.getByRole("textbox", { name: "Name" }), "notes");
    await user.tab();
    await user.keyboard("uvx");
    await user.click(screen.getByRole("button", { name: "Add argument" }));
    await user.keyboard("two words{Enter}{Enter}{Enter}--first{Alt>}{ArrowUp}{/Alt}");
    expect(
      screen.getByText("uvx --first 'two words'"),
      "the exact command should be shown with its quotes",
    ).toBeVisible();
    await user.click(screen.getByRole("button", { name: "Add variable" }));
    await user.keyboard("API_KEY{Tab}s3cret");
    const value = screen.getByLabelText("Value of API_KEY");
    expect(value, "values should be hidden").toHaveAttribute("type", "password");
    await user.click(screen.getByRole("button", { name: "Show the value of API_KEY" }));
    expect(value, "values should be shown on request").toHaveAttribute("type", "text");
    await user.click(screen.getByRole("button", { name: "Choose…" }));
    await waitFor(() =>
      expect(screen.getByRole("textbox", { name: "Working folder" })).toHaveValue("/home/ann/work"),
    );
    await user.click(screen.getByRole("button", { name: "Add server" }));
    expect(host.requests("add_server"), "the entered values should be sent").toEqual([
      {
        name: "notes",
        config: {
          type: "stdio",
          command: "uvx",
          args: ["--first", "two words"],
          env: { API_KEY: "s3cret" },
          cwd: "/home/ann/work",
          revision: null,
        },
      },
    ]);
    expect(router.current, "the page of the server should be opened").toMatchObject({
      at: "server",
      name: "notes",
    });
  });

  test("shows missing fields only after an attempt", async () => {
    expect(screen.queryByText("Enter a name."), "no field should be marked at first").toBeNull();
    await user.click(screen.getByRole("button", { name: "Add server" }));
    expect(screen.getByText("Enter a name.")).toBeVisible();
    expect(screen.getByText("Enter the program to start.")).toBeVisible();
    expect(host.requests("add_server"), "nothing should be added").toEqual([]);
  });

  test("keeps the input when saving fails", async () => {
    refused = ["x"];
    await user.type(screen.getByRole("textbox", { name: "Name" }), "x");
    await user.type(screen.getByRole("textbox", { name: "Command" }), "node");
    await user.click(screen.getByRole("button", { name: "Add server" }));
    expect(await screen.findByText("can't write x"), "the cause should be shown").toBeVisible();
    expect(
      screen.getByRole("textbox", { name: "Command" }),
      "the input should be kept",
    ).toHaveValue("node");
  });
});

test("links to the import from other apps", async () => {
  await user.click(screen.getByRole("button", { name: "Import from other apps…" }));
  expect(router.current.at).toBe("import");
});

test("has no axe violations", async () => {
  preview.servers = [imported("git", { notes: [importNote("reason", "look")] })];
  await paste("{}");
  await screen.findByRole("group", { name: "git" });
  await user.click(screen.getByRole("button", { name: "Change…" }));
  await user.click(screen.getByRole("button", { name: "Add variable" }));
  expect(await axeProblems(), "axe should find no violations after pasting").toEqual([]);
  await user.click(screen.getByRole("tab", { name: "Fill in" }));
  await user.click(screen.getByRole("button", { name: "Add argument" }));
  expect(await axeProblems(), "axe should find no violations in the form").toEqual([]);
});
