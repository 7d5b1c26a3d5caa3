import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { describe, expect, test } from "vitest";

import type { Grant, Server, ServerConfig } from "$lib/api/generated";
import type { ServerTab } from "$lib/state/route";
import { failures } from "$lib/state/failures.svelte";
import { link } from "$lib/state/link.svelte";
import { router } from "$lib/state/view.svelte";
import { axeProblems } from "$lib/testing/axe";
import { sampleServer, startFake } from "$lib/testing/fake";

import { serverTabs } from "../shell/views";

import { samplingReport } from "./sampling-fixtures";
import ServerPage from "./ServerPage.svelte";

// Loaded beforehand, so that no test waits for it.
await Promise.all(Object.values(serverTabs).map((load) => load()));

const user = userEvent.setup();

const NO_PINS = {
  ...{ server: "files", identity: [], identitySince: null, issuer: null, tools: [], prompts: [] },
};

async function show(
  tab: ServerTab,
  changes: Partial<Server> = {},
  answers: Parameters<typeof startFake>[0] = {},
) {
  const host = await startFake(
    { sampling: () => samplingReport(), pins: () => NO_PINS, ...answers },
    {
      servers: [sampleServer(changes), sampleServer({ name: "git" })],
    },
  );
  router.go({ at: "server", name: "files", tab });
  render(ServerPage, { name: "files", tab, item: undefined });
  await waitFor(() => expect(screen.getByRole("tabpanel").childElementCount, "loaded").not.toBe(0));
  return host;
}

const remote: Partial<Server> = {
  config: {
    ...{ type: "http", url: "https://mcp.example.com/v1", kind: null, revision: "2025-06-18" },
    auth: null,
    headers: [{ name: "Authorization", value: null, secret: true }],
  },
  commandLine: "https://mcp.example.com/v1",
  url: {
    ...{ url: "https://mcp.example.com/v1", before: "https://mcp.", domain: "example.com" },
    ...{ after: "/v1", asciiHost: null, warnings: [], openable: true },
  },
  transport: "streamable-http",
  foundBy: "server/discover answered 404, initialize answered",
  pid: null,
};

describe("the header", () => {
  test("has the user's name, state and revision, and stops and restarts", async () => {
    const host = await show("overview");
    expect(screen.getByRole("heading", { level: 1, name: "files" })).toBeVisible();
    expect(screen.getAllByText("ready")[0], "the state in words").toBeVisible();
    expect(screen.getByTitle("Protocol revision"), "the revision").toHaveTextContent("2025-11-25");
    await user.click(screen.getByRole("button", { name: "Stop" }));
    await user.click(screen.getByRole("button", { name: "Restart" }));
    expect(
      host.asked.map((one) => one.name),
      "the commands",
    ).toEqual(["stop_server", "restart_server"]);
    host.send({ type: "server_changed", server: sampleServer({ state: { is: "stopped" } }) });
    await user.click(await screen.findByRole("button", { name: "Start" }));
    expect(host.requests("start_server"), "started").toEqual([{ server: "files" }]);
  });

  test("keeps the focus among its buttons when the pressed one gives way to another", async () => {
    const host = await show("overview", { state: { is: "stopped" } });
    const start = screen.getByRole("button", { name: "Start" });
    start.focus();
    await user.keyboard("{Enter}");
    host.send({ type: "server_changed", server: sampleServer({ state: { is: "starting" } }) });
    await waitFor(() =>
      expect(screen.getByRole("button", { name: "Stop" }), "what there is now").toHaveFocus(),
    );
  });

  test("keeps the focus when the pressed button is disabled first, which takes it away", async () => {
    const host = await show("overview");
    const stop = screen.getByRole("button", { name: "Stop" });
    stop.focus();
    await user.keyboard("{Enter}");
    host.send({ type: "server_changed", server: sampleServer({ state: { is: "stopping" } }) });
    await waitFor(() => expect(stop, "pressed once").toBeDisabled());
    // As browsers do it when they draw next.
    stop.blur();
    host.send({ type: "server_changed", server: sampleServer({ state: { is: "stopped" } }) });
    await waitFor(() =>
      expect(screen.getByRole("button", { name: "Start" }), "what there is now").toHaveFocus(),
    );
  });

  test("removes only after a confirmation, which has keeping focused", async () => {
    const host = await show("overview");
    await user.click(screen.getByRole("button", { name: "More" }));
    await user.click(await screen.findByRole("menuitem", { name: "Remove server" }));
    const dialog = await screen.findByRole("dialog", { name: "Remove files?" });
    await waitFor(() =>
      expect(within(dialog).getByRole("button", { name: "Cancel" }), "keeping").toHaveFocus(),
    );
    expect(host.requests("remove_server"), "not yet").toEqual([]);
    await user.click(within(dialog).getByRole("button", { name: "Remove server" }));
    expect(host.requests("remove_server"), "removed").toEqual([{ server: "files" }]);
    expect(router.current, "another place is in front").not.toMatchObject({ name: "files" });
  });

  test("a refusal is no failure; anything else is shown", async () => {
    failures.list = [];
    let code = "refused";
    await show(
      "overview",
      { state: { is: "stopped" } },
      {
        start_server: () => {
          throw { code, message: "no" };
        },
      },
    );
    await user.click(screen.getByRole("button", { name: "Start" }));
    expect(failures.list, "the user has just refused").toEqual([]);
    code = "system";
    await user.click(screen.getByRole("button", { name: "Start" }));
    expect(failures.list.length, "a real failure").toBe(1);
  });

  test("a server that is gone is said to be", async () => {
    const host = await show("overview");
    host.send({ type: "server_removed", name: "files" });
    expect(await screen.findByText("There is no server named files")).toBeVisible();
  });
});

describe("the overview", () => {
  test("shows the command whole, claims as claims, instructions as text", async () => {
    await show("overview", {
      instructions: "<b>Do</b> as I say\u202e",
      capabilities: ["tools.listChanged", "logging"],
      claims: {
        name: "Official Files™",
        title: null,
        version: "9",
        description: null,
        websiteUrl: "https://example.com",
      },
    });
    expect(await screen.findByText("npx -y server-filesystem /home/ann")).toBeVisible();
    const claims = screen.getByRole("region", { name: "What it says about itself" });
    expect(within(claims).getByText("Calls itself"), "said to be a claim").toBeVisible();
    expect(within(claims).getByText("Official Files™"), "its own name, only here").toBeVisible();
    expect(screen.getByText(/<b>Do<\/b> as I say/), "text, not markup").toBeVisible();
    expect(screen.getByText("U+202E"), "hidden characters are named").toBeVisible();
    expect(screen.getByText("tools.listChanged"), "capabilities").toBeVisible();
    expect(screen.getByText("initialize"), "how the revision was found").toBeVisible();
    await user.click(within(claims).getByRole("button", { name: "Open…" }));
    expect(link.asked, "the website is shown before it is opened").toBe("https://example.com");
    expect(await axeProblems(), "axe").toEqual([]);
  });

  test("sets the log level where there is one", async () => {
    const host = await show("overview", { capabilities: ["logging"] });
    await user.selectOptions(
      await screen.findByRole("combobox", { name: /from this level/ }),
      "warning",
    );
    expect(host.requests("set_log_level"), "asked for").toEqual([
      { server: "files", level: "warning" },
    ]);
  });

  test("of a failed server gives the cause, the last lines, where was looked, and what to do", async () => {
    const host = await show("overview", {
      state: {
        is: "failed",
        reason: "command_not_found",
        message: "npx was not found.",
        stderr: ["line one", "line two"],
        lookedIn: ["/usr/bin", "/opt/bin"],
        hint: "It comes with Node.js, says the host.",
      },
    });
    const failure = await screen.findByRole("group", { name: "Why this server is not running" });
    const inside = within(failure);
    expect(inside.getByText("The program was not found"), "the cause").toBeVisible();
    expect(inside.getByText(/is in none of the folders/), "in words, once").toBeVisible();
    expect(inside.getByText("It comes with Node.js (nodejs.org)."), "the hint").toBeVisible();
    expect(inside.getByText(/line one\s+line two/), "stderr").toBeVisible();
    expect(inside.getByText("Looked in 2 folders"), "where was looked").toBeVisible();
    expect(inside.getByText("/opt/bin"), "each folder").toBeInTheDocument();
    expect(await axeProblems(), "axe").toEqual([]);
    await user.click(inside.getByRole("button", { name: "Start again" }));
    expect(host.requests("start_server"), "the next step").toEqual([{ server: "files" }]);
    await user.click(inside.getByRole("button", { name: "Change the command" }));
    expect(router.current, "the other next step").toMatchObject({ tab: "settings" });
  });
});

describe("a server that dropped", () => {
  test("says why and when it is tried again, and need not be waited for", async () => {
    const state = { is: "reconnecting" as const, attempt: 3, at: Date.now() + 11_500 };
    const host = await show("overview", { state: { ...state, cause: "the stream broke" } });
    const group = within(await screen.findByRole("group", { name: /when it is tried again/ }));
    expect(screen.getAllByText("reconnecting")[0], "the state in words").toBeVisible();
    expect(group.getByText("the stream broke"), "why").toBeVisible();
    expect(group.getByText("Attempt 3 in 12 seconds."), "when").toBeVisible();
    expect(await axeProblems(), "axe").toEqual([]);
    await user.click(group.getByRole("button", { name: "Retry now" }));
    await user.click(group.getByRole("button", { name: "Don't retry" }));
    expect(
      host.asked.map((one) => one.name),
      "at once, or not at all",
    ).toEqual(["retry_now", "stop_server"]);
    host.send({
      type: "server_changed",
      server: sampleServer({ state: { ...state, attempt: 4, at: 0, cause: "" } }),
    });
    expect(await group.findByText("Attempt 4 is being made."), "no time below 0").toBeVisible();
  });
});

describe("what a server tells of", () => {
  test("is listed, and it is said when it tells of nothing at the moment", async () => {
    const host = await show("overview", { subscriptions: ["demo://a"] });
    expect(await screen.findByText("1 resource is watched:"), "how much").toBeVisible();
    expect(screen.queryByText(/tells of no changes/), "all is well").toBeNull();
    const subscriptionsLost = "the stream ended";
    const changes = { subscriptions: ["demo://a", "demo://b"], subscriptionsLost };
    host.send({ type: "server_changed", server: sampleServer(changes) });
    expect(await screen.findByText(/tells of no changes/), "lost").toBeVisible();
    expect(screen.getByText("the stream ended"), "why").toBeVisible();
    expect(screen.getByText("2 resources are watched:"), "still wanted").toBeVisible();
    expect(await axeProblems(), "axe").toEqual([]);
    await user.click(screen.getByRole("button", { name: "demo://b" }));
    expect(router.current, "leads there").toMatchObject({ tab: "resources", item: "demo://b" });
  });
});

describe("a remote server", () => {
  test("shows its address with the domain marked, and what was found and how", async () => {
    await show("overview", remote);
    expect(await screen.findByText("example.com"), "the domain").toHaveProperty(
      "tagName",
      "STRONG",
    );
    expect(screen.getByText("Streamable HTTP"), "the transport").toBeVisible();
    expect(screen.getByText(/server\/discover answered 404/), "how").toBeVisible();
    expect(
      screen.getByText("chosen by you"),
      "the revision was not found but chosen",
    ).toBeVisible();
    expect(screen.getByText("secret, in the keychain"), "no value of a header").toBeVisible();
    expect(await axeProblems(), "axe").toEqual([]);
  });

  test("keeps the values of its headers unless they are written again", async () => {
    const kept = { onlyThisRun: "there is no keychain" };
    const host = await show("settings", remote, { update_server: () => kept });
    await user.click(await screen.findByRole("button", { name: "Add header" }));
    await user.keyboard("X-Team");
    await user.click(screen.getByLabelText("Value of X-Team"));
    await user.keyboard("42");
    await user.click(screen.getByRole("checkbox", { name: "X-Team is secret" }));
    expect(screen.getByText(/disconnects the server/), "it is asked again").toBeVisible();
    await user.click(screen.getByRole("button", { name: "Save" }));
    expect(host.requests("update_server")[0]?.config, "only what was written").toMatchObject({
      headers: [
        { name: "Authorization", value: null, secret: true },
        { name: "X-Team", value: "42", secret: false },
      ],
    });
    await waitFor(() =>
      expect(failures.list.at(-1)?.title, "a secret that does not stay is said").toBe(
        "Secrets are kept only until Drawbridge is closed",
      ),
    );
    failures.list = [];
  });

  test("that wants an authorization says where to put a key", async () => {
    await show("overview", {
      ...remote,
      state: {
        ...{ is: "failed", reason: "unauthorized", message: "401 Unauthorized" },
        ...{ stderr: [], lookedIn: [], hint: null },
      },
    });
    const failure = within(
      await screen.findByRole("group", { name: "Why this server is not running" }),
    );
    expect(failure.getByText(/put it into a header/), "the next step").toBeVisible();
    await user.click(failure.getByRole("button", { name: "Change the headers" }));
    expect(router.current, "there").toMatchObject({ tab: "settings" });
  });
});

describe("how to sign in", () => {
  test("is folded until it is wanted, and the secret is sent once and never shown", async () => {
    const host = await show("settings", remote);
    expect(screen.queryByLabelText("Client id"), "folded").not.toBeVisible();
    await user.click(screen.getByText("Authorization", { selector: "summary" }));
    await user.type(screen.getByLabelText("Client secret"), "s3cret");
    await user.click(screen.getByRole("button", { name: "Save" }));
    expect(screen.getByText("A client secret needs a client id."), "what is missing").toBeVisible();
    await user.type(screen.getByLabelText("Client id"), "drawbridge");
    await user.type(screen.getByLabelText("Scopes"), "ships:read  ships:write");
    await user.type(screen.getByLabelText("Redirect port"), "4321");
    expect(screen.getByText("http://127.0.0.1:4321/callback"), "what to register").toBeVisible();
    expect(await axeProblems(), "axe").toEqual([]);
    await user.click(screen.getByRole("button", { name: "Save" }));
    expect(host.requests("update_server")[0]?.config, "what is saved").toMatchObject({
      auth: {
        ...{ clientId: "drawbridge", clientSecret: "s3cret", hasSecret: true, issuer: null },
        scopes: ["ships:read", "ships:write"],
        redirectPort: 4321,
      },
    });
  });
});

describe("a secret that signing in needs", () => {
  test("is entered on its own, and not shown again", async () => {
    const auth = {
      ...{ clientId: "us", clientSecret: null, hasSecret: false, issuer: "https://i.example" },
      ...{ scopes: [], redirectPort: null, secretNames: ["far.key"], rest: null },
    };
    const config: ServerConfig = {
      ...{ type: "http", url: "https://mcp.example.com/", headers: [], kind: null, revision: null },
      auth,
    };
    const host = await show("settings", { config }, { set_secret: () => ({ onlyThisRun: null }) });
    const field = await screen.findByRole("textbox", { name: "far.key" });
    const keep = screen.getByRole("button", { name: "Keep far.key" });
    expect(keep, "nothing is entered yet").toBeDisabled();
    await user.type(field, "line 1{Enter}line 2");
    await user.click(keep);
    expect(host.requests("set_secret"), "with all its lines").toEqual([
      { server: "files", header: "far.key", value: "line 1\nline 2" },
    ]);
    await waitFor(() => expect(field, "it does not stay in view").toHaveValue(""));
    expect(screen.getByText("Kept."), "that it is kept").toBeVisible();
    expect(await axeProblems(), "axe").toEqual([]);
  });
});

describe("the settings", () => {
  test("change name and command, and warn that it asks again", async () => {
    const host = await show("settings");
    const save = await screen.findByRole("button", { name: "Save" });
    expect(save, "nothing to save yet").toBeDisabled();
    const name = screen.getByRole("textbox", { name: "Name" });
    await user.clear(name);
    await user.type(name, "papers");
    expect(
      screen.queryByText(/asks for your approval again/),
      "a new name asks nothing",
    ).toBeNull();
    await user.click(screen.getByRole("button", { name: "Remove argument 1" }));
    expect(screen.getByText(/asks for your approval again/), "a new command does").toBeVisible();
    await user.click(save);
    expect(host.requests("update_server"), "the whole change at once").toEqual([
      {
        server: "files",
        name: "papers",
        config: {
          ...{ type: "stdio", command: "npx", args: ["server-filesystem", "/home/ann"] },
          ...{ env: {}, cwd: null, revision: null },
        },
      },
    ]);
    expect(router.current, "the page follows the name").toMatchObject({ name: "papers" });
  });

  test("refuse a name that is taken, and follow the file", async () => {
    const host = await show("settings");
    const name = await screen.findByRole("textbox", { name: "Name" });
    await user.clear(name);
    await user.type(name, "git");
    await user.click(screen.getByRole("button", { name: "Save" }));
    expect(screen.getByText("Another server has this name.")).toBeVisible();
    expect(host.requests("update_server"), "nothing sent").toEqual([]);
    host.send({ type: "server_changed", server: sampleServer({ pid: 1 }) });
    expect(
      screen.getByRole("textbox", { name: "Name" }),
      "what is written survives a change of the state",
    ).toHaveValue("git");
    const config = { ...sampleServer().config, command: "deno" };
    host.send({ type: "server_changed", server: sampleServer({ config }) });
    await waitFor(() =>
      expect(screen.getByRole("textbox", { name: "Command" }), "the file's").toHaveValue("deno"),
    );
    expect(await axeProblems(), "axe").toEqual([]);
  });
});

describe("the roots", () => {
  test("are picked, typed and removed; not decided is said", async () => {
    const host = await show("roots", {}, { pick_folder: () => ({ folder: "/home/ann/trip" }) });
    expect(await screen.findByText(/Not decided yet/)).toBeVisible();
    await user.click(screen.getByRole("button", { name: "Add a folder…" }));
    expect(host.requests("set_roots").at(-1), "the picked one").toEqual({
      server: "files",
      folders: ["/home/ann/trip"],
    });
    host.send({
      type: "server_changed",
      server: sampleServer({
        roots: { decided: true, folders: ["/home/ann/trip"], told: ["/home/ann/trip"] },
      }),
    });
    await user.type(screen.getByRole("textbox", { name: "Or type a path" }), "/srv/x{Enter}");
    expect(host.requests("set_roots").at(-1)?.folders, "the typed one too").toEqual([
      "/home/ann/trip",
      "/srv/x",
    ]);
    expect(screen.queryByText(/Not decided yet/), "decided").toBeNull();
    await user.click(screen.getByRole("button", { name: "Remove /home/ann/trip" }));
    expect(host.requests("set_roots").at(-1)?.folders, "none left").toEqual([]);
    expect(await axeProblems(), "axe").toEqual([]);
  });

  test("a closed dialog changes nothing", async () => {
    const host = await show("roots", {}, { pick_folder: () => ({ folder: null }) });
    await user.click(await screen.findByRole("button", { name: "Add a folder…" }));
    expect(host.requests("set_roots"), "nothing").toEqual([]);
  });
});

describe("the permissions", () => {
  const grant = (changes: Partial<Grant>): Grant => ({
    id: "g",
    server: "files",
    tool: null,
    scope: "always",
    since: Date.now(),
    restsOn: "0123456789abcdef",
    conversation: null,
    expiresAt: null,
    ...changes,
  });

  test("are this server's grants, to be revoked", async () => {
    let grants = [
      grant({ id: "1" }),
      grant({ id: "2", tool: "read_file", scope: "session" }),
      grant({ id: "3", server: "git", tool: "git_push" }),
    ];
    const host = await show(
      "permissions",
      {},
      {
        grants: () => ({ grants }),
        revoke_grant: ({ id }) => {
          grants = grants.filter((one) => one.id !== id);
          return {};
        },
      },
    );
    expect(await screen.findByText("until Drawbridge is closed"), "for how long").toBeVisible();
    expect(screen.queryByText("git_push"), "not another server's").toBeNull();
    await user.click(screen.getByRole("button", { name: "Take back read_file" }));
    expect(host.requests("revoke_grant"), "by its id").toEqual([{ id: "2" }]);
    await waitFor(() => expect(screen.queryByText("read_file"), "gone").toBeNull());
    expect(await axeProblems(), "axe").toEqual([]);
    grants = [];
    host.send({ type: "audit_changed" });
    expect(await screen.findByText("Nothing. It asks for everything."), "read again").toBeVisible();
  });

  test("of a remote server rest on its address", async () => {
    await show("permissions", remote, { grants: () => ({ grants: [grant({})] }) });
    expect(await screen.findByText("its address", { selector: "td" }), "said").toBeVisible();
    expect(screen.queryByText("its command"), "it has none").toBeNull();
  });

  test("mute after a confirmation, and unmute", async () => {
    const host = await show("permissions", {}, { grants: () => ({ grants: [] }) });
    await user.click(await screen.findByRole("button", { name: "Refuse all its questions" }));
    const dialog = await screen.findByRole("dialog");
    await user.click(within(dialog).getByRole("button", { name: "Refuse all its questions" }));
    expect(host.requests("deny_all"), "now and later").toEqual([{ server: "files", mute: true }]);
    host.send({ type: "server_changed", server: sampleServer({ muted: true }) });
    await user.click(await screen.findByRole("button", { name: "Let it ask again" }));
    expect(host.requests("unmute"), "again").toEqual([{ server: "files" }]);
  });
});
