import { screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { tick } from "svelte";
import { describe, expect, test } from "vitest";

import type { BlockedPath } from "$lib/api/generated";
import { failures } from "$lib/state/failures.svelte";
import { pendingLink } from "$lib/state/pending-link.svelte";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import { sampleServer } from "$lib/testing/fake-host";

import { consentRequest, startServerBody } from "../consent/fixtures";
import { remoteServerFields, showServerTab } from "./server-page-fixtures";

const user = userEvent.setup();

describe("the header", () => {
  test("shows the user's name, state and revision, and stops and restarts", async () => {
    const host = await showServerTab("overview");
    expect(screen.getByRole("heading", { level: 1, name: "files" })).toBeVisible();
    expect(screen.getAllByText("ready")[0], "the state should be shown").toBeVisible();
    expect(
      screen.getByTitle("Protocol revision"),
      "the revision should be shown",
    ).toHaveTextContent("MCP 2025-11-25");
    await user.click(screen.getByRole("button", { name: "Stop" }));
    await user.click(screen.getByRole("button", { name: "Restart" }));
    expect(
      host.commands.map((one) => one.name),
      "the commands should be sent",
    ).toEqual(["stop_server", "restart_server"]);
    host.send({ type: "server_changed", server: sampleServer({ state: { is: "stopped" } }) });
    await user.click(await screen.findByRole("button", { name: "Start" }));
    expect(host.requests("start_server"), "the server should start").toEqual([{ server: "files" }]);
  });

  test("keeps the focus among its buttons when one replaces another", async () => {
    const host = await showServerTab("overview", { state: { is: "stopped" } });
    const start = screen.getByRole("button", { name: "Start" });
    start.focus();
    await user.keyboard("{Enter}");
    host.send({ type: "server_changed", server: sampleServer({ state: { is: "starting" } }) });
    await waitFor(() =>
      expect(
        screen.getByRole("button", { name: "Stop" }),
        "the new button should be focused",
      ).toHaveFocus(),
    );
  });

  test("keeps the focus when the pressed button is disabled first", async () => {
    const host = await showServerTab("overview");
    const stop = screen.getByRole("button", { name: "Stop" });
    stop.focus();
    await user.keyboard("{Enter}");
    host.send({ type: "server_changed", server: sampleServer({ state: { is: "stopping" } }) });
    await waitFor(() => expect(stop, "the button should be disabled after a click").toBeDisabled());
    // Browsers remove the focus on the next frame.
    stop.blur();
    host.send({ type: "server_changed", server: sampleServer({ state: { is: "stopped" } }) });
    await waitFor(() =>
      expect(
        screen.getByRole("button", { name: "Start" }),
        "the new button should be focused",
      ).toHaveFocus(),
    );
  });

  test("removes only after confirmation, with the cancel button focused", async () => {
    const host = await showServerTab("overview");
    await user.click(screen.getByRole("button", { name: "More" }));
    await user.click(await screen.findByRole("menuitem", { name: "Remove server" }));
    const dialog = await screen.findByRole("dialog", { name: "Remove files?" });
    await waitFor(() =>
      expect(
        within(dialog).getByRole("button", { name: "Cancel" }),
        "the cancel button should be focused",
      ).toHaveFocus(),
    );
    expect(
      host.requests("remove_server"),
      "nothing should be removed before the confirmation",
    ).toEqual([]);
    await user.click(within(dialog).getByRole("button", { name: "Remove server" }));
    expect(host.requests("remove_server"), "the server should be removed").toEqual([
      { server: "files" },
    ]);
    expect(router.current, "another view should be opened").not.toMatchObject({ name: "files" });
  });

  test("shows failures, except a denial by the user", async () => {
    failures.list = [];
    let code = "refused";
    await showServerTab(
      "overview",
      { state: { is: "stopped" } },
      {
        start_server: () => {
          throw { code, message: "no" };
        },
      },
    );
    await user.click(screen.getByRole("button", { name: "Start" }));
    expect(failures.list, "a denial should not be shown as a failure").toEqual([]);
    code = "system";
    await user.click(screen.getByRole("button", { name: "Start" }));
    expect(failures.list.length, "a failure should be shown").toBe(1);
  });

  test("shows that the server does not exist", async () => {
    const host = await showServerTab("overview");
    host.send({ type: "server_removed", name: "files" });
    expect(await screen.findByText("There is no server named files")).toBeVisible();
  });
});

describe("the overview", () => {
  test("shows the complete command, claims as claims, and instructions as text", async () => {
    await showServerTab("overview", {
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
    const claims = screen.getByRole("region", { name: "About this server" });
    expect(
      within(claims).getByText("Name it claims"),
      "the name should be shown as a claim",
    ).toBeVisible();
    expect(
      within(claims).getByText("Official Files™"),
      "the name of the server should only be shown as a claim",
    ).toBeVisible();
    expect(screen.getByText(/<b>Do<\/b> as I say/), "markup should be shown as text").toBeVisible();
    expect(screen.getByText("U+202E"), "hidden characters should be named").toBeVisible();
    expect(screen.getByText("tools.listChanged"), "the capabilities should be shown").toBeVisible();
    expect(screen.getByText("initialize"), "the detection method should be shown").toBeVisible();
    await user.click(within(claims).getByRole("button", { name: "Open…" }));
    expect(pendingLink.url, "the website should be shown before it is opened").toBe(
      "https://example.com",
    );
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  test("states why the server stopped if its restart needs approval", async () => {
    const host = await showServerTab("overview", { state: { is: "awaiting_approval" } });
    const title = "The server stopped unexpectedly";
    const request = consentRequest(startServerBody, { origin: { by: "user", conversation: null } });
    host.send({ type: "consent_request_changed", consentRequest: request });
    await tick();
    expect(screen.queryByText(title), "a start by the user has no cause").toBeNull();
    const origin = { by: "ended" as const, cause: "it was ended by signal 9" };
    host.send({ type: "consent_request_changed", consentRequest: { ...request, origin } });
    expect(await screen.findByText(title)).toBeVisible();
    expect(screen.getByText(/signal 9/), "the cause should be shown").toBeVisible();
    expect(screen.getByText(/starting it again needs your approval/)).toBeVisible();
  });

  test("E29: pings on request, and shows the round-trip time", async () => {
    const host = await showServerTab("overview", {}, { ping: () => ({ milliseconds: 12.4 }) });
    await user.click(screen.getByRole("button", { name: "Ping" }));
    expect(await screen.findByText("Responded in 12 ms")).toBeVisible();
    expect(host.requests("ping")).toEqual([{ server: "files" }]);
    host.answers.ping = () => Promise.reject({ code: "timeout", message: "no answer in 10 s" });
    await user.click(screen.getByRole("button", { name: "Ping" }));
    expect(await screen.findByText("no answer in 10 s"), "a timeout should be shown").toBeVisible();
    expect(screen.queryByText("Responded in 12 ms"), "the last time should be removed").toBeNull();
  });

  test("E29: shows that a revision has no ping", async () => {
    await showServerTab(
      "overview",
      { revision: "2026-07-28" },
      { ping: () => ({ milliseconds: 3 }) },
    );
    expect(screen.getByText(/has no ping/)).toHaveTextContent("server/discover");
    await user.click(screen.getByRole("button", { name: "Check connection" }));
    expect(await screen.findByText(/^Responded in/)).toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  test("shows the cause, the last output, the searched folders and the remedy of a failure", async () => {
    const host = await showServerTab("overview", {
      state: {
        is: "failed",
        reason: "command_not_found",
        message: "npx was not found.",
        stderr: ["line one", "line two"],
        searchedFolders: ["/usr/bin", "/opt/bin"],
        hint: "It comes with Node.js, says the host.",
      },
    });
    const failure = await screen.findByRole("group", { name: "Why this server is not running" });
    const inside = within(failure);
    expect(inside.getByText("The program was not found"), "the cause should appear").toBeVisible();
    expect(
      inside.getByText(/is not in any of the searched folders/),
      "the cause should be explained once",
    ).toBeVisible();
    expect(
      inside.getByText("It comes with Node.js (nodejs.org)."),
      "the hint should be shown",
    ).toBeVisible();
    expect(
      inside.getByText(/line one\s+line two/),
      "the standard error should be shown",
    ).toBeVisible();
    expect(inside.getByText("Searched 2 folders"), "the search should be mentioned").toBeVisible();
    expect(inside.getByText("/opt/bin"), "each folder should be listed").toBeInTheDocument();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.click(inside.getByRole("button", { name: "Start again" }));
    expect(host.requests("start_server"), "the server should be started again").toEqual([
      { server: "files" },
    ]);
    await user.click(inside.getByRole("button", { name: "Change the command" }));
    expect(router.current, "the settings should be opened").toMatchObject({ tab: "settings" });
  });
});

test.each([
  [["Error: no key"], /Its output usually says why/],
  [[], /It wrote nothing to standard error/],
])(
  "mentions the output of a server that exited early only if there is any: %j",
  async (stderr, hint) => {
    await showServerTab("overview", {
      state: {
        ...{ is: "failed", reason: "exited_early", message: "the server ended with exit status 1" },
        ...{ stderr, searchedFolders: [], hint: null },
      },
    });
    expect(await screen.findByText(hint)).toBeVisible();
  },
);

describe("a server whose sandbox hides a required file [E6]", () => {
  const config = {
    ...{ type: "stdio" as const, command: "node", args: ["/w/app/index.js"], env: {} },
    ...{ cwd: null, revision: null },
    sandbox: {
      folders: [{ path: "/w/in", access: "write" as const }],
      network: { preset: "files_only" as const },
    },
  };
  const failed = (blocked: BlockedPath[]) => ({
    config,
    state: {
      ...{ is: "failed" as const, reason: "exited_early" as const, message: "it ended" },
      ...{ stderr: ["Cannot find package 'zod'"], searchedFolders: [], hint: "in words", blocked },
    },
  });
  const offered: BlockedPath = {
    path: "/w/app/node_modules/zod",
    namedBy: "server",
    proposal: {
      is: "folder",
      folder: "/w/app/node_modules",
      names: ["ajv", "zod\u{202e}"],
      count: 40,
    },
  };

  test("E6: offers the folder that the sandbox blocked, and requires consent again", async () => {
    const host = await showServerTab("overview", failed([offered]), {
      update_server: () => ({ onlyThisRun: null }),
    });
    const part = within(await screen.findByRole("region", { name: /sandbox may be the cause/ }));
    expect(part.getByText("/w/app/node_modules"), "the folder should be shown").toBeVisible();
    expect(
      part.getByText(/may request more than it needs/),
      "the source of the request should be mentioned",
    ).toBeVisible();
    expect(
      part.getByText("and 38 more"),
      "the number of further entries should be shown",
    ).toBeVisible();
    expect(part.getByText(/U\+202E/), "hidden characters should be named").toBeVisible();
    expect(screen.queryByText("in words"), "the message should not be repeated").toBeNull();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.click(part.getByRole("button", { name: "Add this folder" }));
    const added = { path: "/w/app/node_modules", access: "read" };
    await waitFor(() =>
      expect(host.requests("start_server"), "the start should be requested").toEqual([
        { server: "files" },
      ]),
    );
    expect(host.requests("update_server"), "the folder should be added for reading").toEqual([
      {
        ...{ server: "files", name: "files" },
        config: {
          ...config,
          sandbox: { ...config.sandbox, folders: [...config.sandbox.folders, added] },
        },
      },
    ]);
  });

  test.each([
    ["secrets", /keys, passwords or sessions/],
    ["too_broad", /far more than the program/],
    ["system", /belongs to the system/],
    ["own", /belongs to Drawbridge/],
    ["name", /invisible characters/],
  ] as const)("explains why nothing is offered: %s", async (reason, why) => {
    const path = "/home/ann/.ssh/id_ed25519";
    await showServerTab(
      "overview",
      failed([{ path, namedBy: "server", proposal: { is: "none", reason } }]),
    );
    expect(await screen.findByText(why), "the reason should be shown").toBeVisible();
    expect(screen.getByText(path), "the required path should be shown").toBeVisible();
    expect(screen.queryByRole("button", { name: "Add this folder" })).toBeNull();
  });
});

describe("a disconnected server", () => {
  test("shows the reason and the time of the next attempt, and reconnects on request", async () => {
    const state = { is: "reconnecting" as const, attempt: 3, at: Date.now() + 11_500 };
    const host = await showServerTab("overview", {
      state: { ...state, cause: "the stream broke" },
    });
    const group = within(await screen.findByRole("group", { name: /^Reconnection$/ }));
    expect(screen.getAllByText("reconnecting")[0], "the state should be shown").toBeVisible();
    expect(group.getByText("the stream broke"), "the cause should be shown").toBeVisible();
    expect(
      group.getByText("Attempt 3 in 12 seconds."),
      "the time of the next attempt should be shown",
    ).toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.click(group.getByRole("button", { name: "Retry now" }));
    await user.click(group.getByRole("button", { name: "Stop retrying" }));
    expect(
      host.commands.map((one) => one.name),
      "both actions should be sent",
    ).toEqual(["reconnect_server", "stop_server"]);
    host.send({
      type: "server_changed",
      server: sampleServer({ state: { ...state, attempt: 4, at: 0, cause: "" } }),
    });
    expect(
      await group.findByText("Attempt 4 is running."),
      "the time should not be negative",
    ).toBeVisible();
  });
});

describe("subscriptions of a server", () => {
  test("are listed, with a note while they are inactive", async () => {
    const host = await showServerTab("overview", { subscriptions: ["demo://a"] });
    expect(
      await screen.findByText("1 resource is watched:"),
      "the number of resources should be shown",
    ).toBeVisible();
    expect(
      screen.queryByText(/notifications are interrupted/),
      "there should be no note at first",
    ).toBeNull();
    const subscriptionsLost = "the stream ended";
    const changes = { subscriptions: ["demo://a", "demo://b"], subscriptionsLost };
    host.send({ type: "server_changed", server: sampleServer(changes) });
    expect(
      await screen.findByText(/notifications are interrupted/),
      "the interruption should be shown",
    ).toBeVisible();
    expect(screen.getByText("the stream ended"), "the cause should be shown").toBeVisible();
    expect(
      screen.getByText("2 resources are watched:"),
      "the requested subscriptions should still be listed",
    ).toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await user.click(screen.getByRole("button", { name: "demo://b" }));
    expect(router.current, "the resource should be opened").toMatchObject({
      tab: "resources",
      item: "demo://b",
    });
  });
});

describe("a remote server", () => {
  test("shows its URL with the domain highlighted, and how the connection was determined", async () => {
    await showServerTab("overview", remoteServerFields);
    expect(
      await screen.findByText("example.com"),
      "the domain should be highlighted",
    ).toHaveProperty("tagName", "STRONG");
    expect(screen.getByText("Streamable HTTP"), "the transport should be shown").toBeVisible();
    expect(
      screen.getByText(/server\/discover answered 404/),
      "the detection method should be shown",
    ).toBeVisible();
    expect(screen.getByText("chosen by you"), "a chosen revision should be labeled").toBeVisible();
    expect(
      screen.getByText("secret, in the keychain"),
      "the value of a header should not be shown",
    ).toBeVisible();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  test("keeps the values of its headers unless they are entered again", async () => {
    const storage = { onlyThisRun: "there is no keychain" };
    const host = await showServerTab("settings", remoteServerFields, {
      update_server: () => storage,
    });
    await user.click(await screen.findByRole("button", { name: "Add header" }));
    await user.keyboard("X-Team");
    await user.click(screen.getByLabelText("Value of X-Team"));
    await user.keyboard("42");
    await user.click(screen.getByRole("checkbox", { name: "X-Team is secret" }));
    expect(
      screen.getByText(/disconnects the server/),
      "the effect of saving should be mentioned",
    ).toBeVisible();
    await user.click(screen.getByRole("button", { name: "Save" }));
    expect(
      host.requests("update_server")[0]?.config,
      "only the changed values should be sent",
    ).toMatchObject({
      headers: [
        { name: "Authorization", value: null, secret: true },
        { name: "X-Team", value: "42", secret: false },
      ],
    });
    await waitFor(() =>
      expect(failures.list.at(-1)?.title, "secrets that are not stored should be reported").toBe(
        "Secrets are stored only until Drawbridge closes",
      ),
    );
    failures.list = [];
  });

  test("that requires authorization links to the field for a key", async () => {
    await showServerTab("overview", {
      ...remoteServerFields,
      state: {
        ...{ is: "failed", reason: "unauthorized", message: "401 Unauthorized" },
        ...{ stderr: [], searchedFolders: [], hint: null },
      },
    });
    const failure = within(
      await screen.findByRole("group", { name: "Why this server is not running" }),
    );
    expect(failure.getByText(/enter it in a header/), "the next step should appear").toBeVisible();
    await user.click(failure.getByRole("button", { name: "Change the headers" }));
    expect(router.current, "the settings should be opened").toMatchObject({ tab: "settings" });
  });
});
