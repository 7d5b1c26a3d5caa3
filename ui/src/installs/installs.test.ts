import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { tick } from "svelte";
import { afterEach, describe, expect, test } from "vitest";

import type { InstallDraft, InstallOffer, InstallPreview } from "$lib/api/generated";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import { startFakeHost } from "$lib/testing/fake-host";

import {
  bundleOffer,
  SERVER_NAME,
  sampleAnswer,
  sampleInput,
  sampleListing,
  sampleOffer,
  samplePlan,
  samplePreview,
  sampleServer,
  SHA256,
} from "./fixtures";
import InstallSheet from "./InstallSheet.svelte";
import { installSheet } from "./install-sheet.svelte";
import { plannedSetupText } from "./setup-text";
import { registrySearch } from "./registry-search.svelte";
import RegistryView from "./RegistryView.svelte";

const user = userEvent.setup();
afterEach(() => cleanup());

/** Waits until the page has processed all responses so far. */
async function processed() {
  await new Promise((resolve) => setTimeout(resolve));
  await tick();
}

describe("the registry", () => {
  const page = (names: string[], nextCursor: string | null = null) => ({
    servers: names.map((name) => sampleListing({ name })),
    ...{ unreadable: 0, nextCursor, answer: sampleAnswer() },
  });

  async function open(answers: Parameters<typeof startFakeHost>[0]) {
    const host = await startFakeHost(answers);
    router.go({ at: "registry" });
    render(RegistryView);
    return host;
  }

  test("searches after typing pauses, and loads page by page", async () => {
    const host = await open({
      read_registry_server: () => sampleServer(),
      search_registry: ({ text, cursor }) =>
        text === "not"
          ? page([`${SERVER_NAME}-found`])
          : cursor
            ? page(["a/2", "a/3"])
            : page(["a/1", "a/2"], "c1"),
    });
    expect(await screen.findByRole("link", { name: "a/1" })).toBeVisible();
    await user.click(screen.getByRole("button", { name: "Show more" }));
    await screen.findByRole("link", { name: "a/3" });
    expect(
      screen.getAllByRole("link", { name: "a/2" }),
      "an entry on both pages should be listed once",
    ).toHaveLength(1);
    expect(
      screen.queryByRole("button", { name: "Show more" }),
      "there should be no further page",
    ).toBeNull();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.type(screen.getByRole("searchbox", { name: "Search servers" }), "not");
    await screen.findByRole("link", { name: `${SERVER_NAME}-found` });
    expect(
      host.requests("search_registry").map(({ text }) => text),
      "the search should not start with each key",
    ).toEqual(["", "", "not"]);
    await user.keyboard("{ArrowDown}");
    expect(
      screen.getByRole("link", { name: `${SERVER_NAME}-found` }),
      "the result should be focused by keyboard",
    ).toHaveFocus();
    await user.keyboard("{Enter}");
    expect(router.current).toEqual({ at: "registry", name: `${SERVER_NAME}-found` });
  });

  test("shows the publisher, deprecation, and hostile text as text", async () => {
    await open({
      search_registry: () => ({
        ...page([]),
        servers: [
          sampleListing({
            ...{ status: "deprecated", title: "<img src=x onerror=alert(1)>" },
            description: `right \u202e to left ${"x".repeat(5_000)}`,
          }),
        ],
      }),
    });
    const row = await screen.findByRole("article");
    expect(row).toHaveTextContent("Published by the GitHub account alice");
    expect(within(row).getByText("deprecated")).toBeVisible();
    expect(row.querySelector("img"), "no markup should be rendered").toBeNull();
    expect(row, "hidden characters should be named").toHaveTextContent("U+202E");
    expect(row.textContent.length, "long text should be cut").toBeLessThan(700);
  });

  test("shows that it is offline with the age of the answer, and retries", async () => {
    let offline: string | null = "connection refused";
    const host = await open({
      search_registry: () => ({
        ...page(["a/1"]),
        answer: sampleAnswer({
          offlineReason: offline,
          fetchedAt: Date.now() - 3 * 3_600_000,
          fromCache: true,
        }),
      }),
    });
    const note = await screen.findByRole("group", { name: "The registry can't be reached" });
    expect(note).toHaveTextContent("3 hours ago");
    offline = null;
    await user.click(screen.getByRole("button", { name: "Reload from the registry" }));
    await waitFor(() => expect(screen.queryByText("The registry can't be reached")).toBeNull());
    expect(host.requests("search_registry").at(-1)).toMatchObject({ refresh: true });
  });

  test("drops a response to an outdated query", async () => {
    let answerFirst: (answer: ReturnType<typeof page>) => void = () => undefined;
    await open({
      search_registry: ({ text }) =>
        text === "" ? new Promise((resolve) => (answerFirst = resolve)) : page(["a/new"]),
    });
    await user.type(screen.getByRole("searchbox"), "new{Enter}");
    await screen.findByRole("link", { name: "a/new" });
    answerFirst(page(["a/old"]));
    await processed();
    expect(screen.queryByRole("link", { name: "a/old" })).toBeNull();
    expect(screen.getByRole("link", { name: "a/new" })).toBeVisible();
  });

  test("lists a repeated name once", async () => {
    await open({ search_registry: () => page(["a/1", "a/1", "a/2"]) });
    await screen.findByRole("link", { name: "a/2" });
    expect(screen.getAllByRole("link", { name: "a/1" })).toHaveLength(1);
  });

  test("loads more of the shown list, and searches again if the text changed", async () => {
    const host = await open({
      search_registry: ({ text, cursor }) =>
        text === "new" ? page(["a/new"]) : cursor ? page(["a/2"]) : page(["a/1"], "c1"),
    });
    await screen.findByRole("link", { name: "a/1" });
    registrySearch.text = "new";
    screen.getByRole("button", { name: "Show more" }).click();
    await screen.findByRole("link", { name: "a/2" });
    expect(host.requests("search_registry").at(-1)).toMatchObject({ text: "", cursor: "c1" });
    cleanup();
    render(RegistryView);
    await screen.findByRole("link", { name: "a/new" });
    expect(
      screen.queryByRole("link", { name: "a/1" }),
      "the previous list should be removed",
    ).toBeNull();
    cleanup();
    render(RegistryView);
    expect(
      screen.getByRole("link", { name: "a/new" }),
      "the new list should be shown",
    ).toBeVisible();
    expect(
      host.requests("search_registry"),
      "the same page should not be requested twice",
    ).toHaveLength(3);
  });
});

describe("the page of a server", () => {
  async function open(server = sampleServer()) {
    const host = await startFakeHost({
      read_registry_server: () => server,
      plan_install: () => sampleOffer(),
      preview_install: () => samplePreview(),
    });
    router.go({ at: "registry", name: SERVER_NAME });
    render(RegistryView);
    await screen.findByRole("heading", { level: 1, name: SERVER_NAME });
    return host;
  }

  test("shows versions, packages and remotes, and opens the sheet for the selected one", async () => {
    const host = await open();
    await screen.findByText("Installation options");
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.click(screen.getByRole("button", { name: "Show version 1.1.0" }));
    expect(host.requests("read_registry_server").at(-1)).toMatchObject({
      name: SERVER_NAME,
      version: "1.1.0",
    });
    await user.click(screen.getByRole("button", { name: "Install @alice/notes 1.2.0" }));
    expect(host.requests("plan_install")).toEqual([
      {
        ...{ from: "registry", name: SERVER_NAME, version: "1.2.0" },
        target: { kind: "package", number: 1 },
      },
    ]);
    expect(installSheet.isOpen).toBe(true);
  });

  test("installs a bundle by its listed hash", async () => {
    const host = await open();
    const bundle = await screen.findByRole("group", { name: "https://example.com/notes.mcpb" });
    expect(bundle).toHaveTextContent("ab".repeat(32));
    await user.click(within(bundle).getByRole("button", { name: /^Install / }));
    expect(host.requests("plan_install").at(-1)).toMatchObject({
      target: { kind: "package", number: 2 },
    });
  });

  test("offers no installation of a deleted version", async () => {
    const listing = sampleListing({ status: "deleted", statusMessage: "malware" });
    await open(sampleServer({ listing }));
    expect(await screen.findByText("malware")).toBeVisible();
    const button = screen.getByRole("button", { name: "Install @alice/notes 1.2.0" });
    expect(button).toBeDisabled();
  });
});

describe("the sheet", () => {
  const SOURCE = sampleOffer().source;
  /** Returns the preview of a draft. The inputs `NOTES_KEY` and `dir` are required. */
  function previewOf(draft: InstallDraft): InstallPreview {
    const { NOTES_KEY, dir } = draft.values;
    const inputProblems: InstallPreview["inputProblems"] = {};
    if (!NOTES_KEY?.[0]) inputProblems.NOTES_KEY = "missing";
    if (!dir?.[0]) inputProblems.dir = "missing";
    if (Object.keys(inputProblems).length === 0) return samplePreview(`hash of ${draft.name}`);
    return { inputProblems, problem: null, server: null, before: null, hash: null };
  }

  async function open(
    offer: InstallOffer = sampleOffer(),
    answers: Parameters<typeof startFakeHost>[0] = {},
  ) {
    const host = await startFakeHost({
      plan_install: () => offer,
      preview_install: previewOf,
      install_server: () => ({ onlyThisRun: null }),
      ...answers,
    });
    void installSheet.open(SOURCE);
    render(InstallSheet);
    await screen.findByRole("heading", { name: "Source" });
    return host;
  }

  const add = () => screen.getByRole("button", { name: "Add server" });
  const ready = () => waitFor(() => expect(add()).not.toHaveAttribute("aria-busy"));

  test("installs the previewed setup: exact command, masked secret, sandbox on, stopped", async () => {
    const host = await open();
    await ready();
    expect(screen.getByTestId("exactly")).toHaveTextContent(
      "npx -y @alice/notes@1.2.0 --dir=⟨dir⟩",
    );
    expect(screen.getByRole("checkbox", { name: "Run it in a sandbox" })).toBeChecked();
    expect(
      screen.queryByText("Enter a value."),
      "no field should be marked before it was edited",
    ).toBeNull();
    await user.click(add());
    expect(
      screen.getAllByText("Enter a value."),
      "both missing values should be marked",
    ).toHaveLength(2);
    expect(host.requests("install_server"), "nothing should be installed without a hash").toEqual(
      [],
    );
    const key = screen.getByLabelText("NOTES_KEY");
    expect(key, "the first missing field should be focused").toHaveFocus();
    expect(key).toHaveAttribute("type", "password");
    expect(await axeProblems(), "axe should find no violations").toEqual([]);

    await user.type(key, "s3cret");
    await user.type(screen.getByLabelText("Folder"), "/home/ann/notes");
    await ready();
    const exactly = screen.getByTestId("exactly");
    expect(exactly).toHaveTextContent("--dir=/home/ann/notes");
    expect(exactly).toHaveTextContent("secret, in the keychain");
    expect(exactly, "the secret should not be shown").not.toHaveTextContent("s3cret");
    const name = screen.getByRole("textbox", { name: "Name" });
    await user.clear(name);
    await user.type(name, "mine");
    await ready();
    await user.click(add());
    const draft: InstallDraft = {
      ...{ source: SOURCE, name: "mine" },
      values: { NOTES_KEY: ["s3cret"], dir: ["/home/ann/notes"] },
      sandbox: { folders: [], network: { preset: "named_hosts", hosts: ["registry.npmjs.org"] } },
      upgrades: null,
    };
    expect(host.requests("install_server"), "the hash of the shown preview should be sent").toEqual(
      [{ draft, hash: "hash of mine", stopRunning: false }],
    );
    expect(router.current).toMatchObject({ at: "server", name: "mine" });
    expect(host.requests("start_server"), "nothing should be started").toEqual([]);
    expect(installSheet.form, "the secrets should be dropped").toBeNull();
  });

  test("does not install fields that changed after the preview", async () => {
    const host = await open(sampleOffer({ plan: samplePlan({ inputs: [] }) }), {
      preview_install: ({ name }) => samplePreview(name),
    });
    await ready();
    await user.type(screen.getByRole("textbox", { name: "Name" }), "2");
    await user.click(add());
    expect(host.requests("install_server"), "the outdated preview should not be installed").toEqual(
      [],
    );
    await ready();
    await user.click(add());
    expect(host.requests("install_server").map(({ hash }) => hash)).toEqual(["notes2"]);
  });

  test("shows a changed setup again and installs nothing", async () => {
    let hash = "old";
    await open(sampleOffer({ plan: samplePlan({ inputs: [] }) }), {
      preview_install: () => samplePreview(hash),
      install_server: (request) => {
        if (request.hash === "new") return { onlyThisRun: null };
        hash = "new";
        throw { code: "stale", message: "it is not what was shown" };
      },
    });
    await ready();
    await user.click(add());
    expect(await screen.findByText(/The setup changed/)).toBeVisible();
    expect(installSheet.isOpen).toBe(true);
    await ready();
    await user.click(add());
    await waitFor(() => expect(installSheet.isOpen).toBe(false));
  });

  test("warns about a missing sandbox, and sends none", async () => {
    const host = await open();
    await ready();
    await user.click(screen.getByRole("checkbox", { name: "Run it in a sandbox" }));
    expect(screen.getByText("Without a sandbox")).toBeVisible();
    await waitFor(() => expect(host.requests("preview_install").at(-1)?.sandbox).toBeNull());
  });

  test("offers a choice between several packages", async () => {
    const host = await open(sampleOffer({ plan: null }));
    expect(
      screen.queryByRole("button", { name: "Add server" }),
      "nothing should be selected",
    ).toBeNull();
    host.answers.plan_install = () => sampleOffer();
    await user.click(screen.getByRole("button", { name: "Install https://notes.example/mcp" }));
    expect(host.requests("plan_install").at(-1)).toMatchObject({
      target: { kind: "remote", number: 1 },
    });
    await ready();
  });

  test("explains why something can't be installed", async () => {
    await open(sampleOffer({ plan: null, choices: [], problem: "this version was deleted" }));
    expect(screen.getByText("this version was deleted")).toBeVisible();
    expect(screen.queryByRole("button", { name: "Add server" })).toBeNull();
  });

  test("has a field for each kind of value", async () => {
    const inputs = [
      sampleInput("on", { kind: "boolean", default: ["true"] }),
      sampleInput("size", { choices: ["small", "large"], default: ["small"] }),
      sampleInput("port", { kind: "number", min: 1, max: 10 }),
      sampleInput("dirs", { kind: "folder", multiple: true }),
    ];
    const host = await open(sampleOffer({ plan: samplePlan({ inputs }) }), {
      preview_install: () => samplePreview(),
      pick_folder: () => ({ folder: "/picked" }),
    });
    await ready();
    await user.click(screen.getByRole("checkbox", { name: "on (optional)" }));
    await user.selectOptions(screen.getByRole("combobox", { name: "size (optional)" }), "large");
    await user.type(screen.getByRole("textbox", { name: "port (optional)" }), "7");
    expect(screen.getByText("Enter a number from 1 to 10.")).toBeVisible();
    const dirs = screen.getByRole("group", { name: "dirs (optional)" });
    await user.click(within(dirs).getByRole("button", { name: "Choose…" }));
    await user.click(within(dirs).getByRole("button", { name: "Add value" }));
    await user.type(screen.getByRole("textbox", { name: "dirs, value 2" }), "/b");
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await ready();
    expect(host.requests("preview_install").at(-1)?.values).toEqual({
      ...{ on: ["false"], size: ["large"], port: ["7"], dirs: ["/picked", "/b"] },
    });
  });

  test("requests the file of a bundle, and shows its pinned properties", async () => {
    const host = await startFakeHost({
      plan_install: (source) => {
        if (source.from === "bundle" && source.path === "/missing.mcpb")
          throw { code: "not_found", message: "there is no such file" };
        return bundleOffer();
      },
      preview_install: previewOf,
    });
    installSheet.openFile();
    render(InstallSheet);
    const file = await screen.findByRole("textbox", { name: "File" });
    await user.type(file, "/missing.mcpb");
    await user.click(screen.getByRole("button", { name: "Continue" }));
    expect(await screen.findByText("there is no such file")).toBeVisible();
    await user.clear(file);
    await user.type(file, "/home/ann/notes.mcpb");
    await user.click(screen.getByRole("button", { name: "Continue" }));
    expect(await screen.findByText(SHA256)).toBeVisible();
    expect(host.requests("plan_install").at(-1)).toEqual({
      ...{ from: "bundle", path: "/home/ann/notes.mcpb", sha256: null },
    });
    await waitFor(() =>
      expect(host.requests("preview_install")[0]?.source).toMatchObject({ sha256: SHA256 }),
    );
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });
});

test("distinguishes a blank from quoted text", () => {
  expect(
    plannedSetupText({
      ...{ type: "stdio", command: "my tool", env: {} },
      args: [[{ text: "a b" }], [{ text: "--x=" }, { input: "key" }]],
    }),
  ).toBe("'my tool' 'a b' --x=⟨key⟩");
});
