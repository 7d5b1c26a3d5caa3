import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, test, vi } from "vitest";

import type { CheckedComputer, Finding, ServerConfig } from "$lib/api/generated";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";
import { sampleServer, startFakeHost } from "$lib/testing/fake-host";

import ServerFailure from "../servers/ServerFailure.svelte";
import SettingsView from "../settings/SettingsView.svelte";

import CheckDialog from "./CheckDialog.svelte";
import { computerCheck } from "./checkup.svelte";
import { checksForFailure } from "./failed-start";

const user = userEvent.setup();
afterEach(() => cleanup());

function finding(id: Finding["id"], state: Finding["state"], changes: Partial<Finding> = {}) {
  const remedy = state === "ok" ? null : `What to do about ${id}.`;
  const observation = `${id} as it was seen`;
  return { id, title: id, state, observation, remedy, servers: [], ...changes };
}

const found: CheckedComputer = {
  findings: [
    finding("settings", "ok"),
    finding("keychain", "warning"),
    finding("node", "problem", { servers: ["files"] }),
    finding("web_view", "unknown"),
    finding("clock", "ok"),
  ],
  report: "## Drawbridge: report on this computer\n",
};

async function open(
  answer: CheckedComputer = found,
  about?: Parameters<typeof computerCheck.open>[0],
) {
  const host = await startFakeHost({ check_computer: () => answer }, { servers: [sampleServer()] });
  computerCheck.open(about);
  render(CheckDialog);
  await screen.findByText(/found\.$/);
  return host;
}

/** Returns the visible findings in display order. */
function titles(): (string | null)[] {
  return screen.getAllByRole("group").map((group) => group.getAttribute("aria-label"));
}

describe("the dialog", () => {
  test("shows problems first with their remedies, and collapses the rest", async () => {
    await open();
    expect(screen.getByText("1 problem found.")).toBeVisible();
    const node = screen.getByRole("group", { name: "Node.js" });
    expect(within(node).getByText("What to do about node.")).toBeVisible();
    const keychain = screen.getByRole("group", { name: "Keychain" });
    expect(
      node.compareDocumentPosition(keychain) & Node.DOCUMENT_POSITION_FOLLOWING,
      "problems should precede warnings",
    ).not.toBe(0);
    expect(
      screen.getByText("clock as it was seen"),
      "passed checks should be collapsed",
    ).not.toBeVisible();
    await user.click(screen.getByText("2 checks passed"));
    expect(screen.getByText("clock as it was seen")).toBeVisible();
    expect(screen.queryByText("What to do about clock.")).toBeNull();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  test("lists the findings about a failed server first", async () => {
    await open(found, { server: "files", checks: ["clock", "web_view"] });
    expect(screen.getByRole("heading", { name: "About files" })).toBeVisible();
    expect(
      titles().filter((title) => title !== null),
      "related findings should be listed by severity",
    ).toEqual(["Node.js", "Web view", "Clock", "Keychain", "Settings file"]);
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
  });

  test("checks again and shows the new findings", async () => {
    const host = await open();
    host.answers.check_computer = () => ({ ...found, findings: [finding("clock", "ok")] });
    await user.click(screen.getByRole("button", { name: "Check again" }));
    expect(await screen.findByText("No problems found.")).toBeVisible();
    expect(screen.queryByRole("group", { name: "Node.js" })).toBeNull();
  });

  test("copies the report unchanged", async () => {
    await open();
    const write = vi.spyOn(navigator.clipboard, "writeText").mockResolvedValue();
    await user.click(screen.getByRole("button", { name: "Copy report" }));
    expect(write).toHaveBeenCalledWith(found.report);
    expect(await screen.findByText("Report copied")).toBeInTheDocument();
  });

  test("shows why the check failed", async () => {
    await startFakeHost({
      check_computer: () => {
        throw { code: "not_found", message: "there is no such computer" };
      },
    });
    computerCheck.open();
    render(CheckDialog);
    expect(await screen.findByText("there is no such computer")).toBeVisible();
    expect(screen.queryByRole("button", { name: "Copy report" })).toBeNull();
  });

  test("links to the server that a finding names", async () => {
    await open();
    await user.click(screen.getByRole("button", { name: "files" }));
    expect(router.current).toMatchObject({ at: "server", name: "files" });
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  });
});

test("opens from the settings", async () => {
  const host = await startFakeHost({ check_computer: () => found });
  render(SettingsView);
  await user.click(screen.getByRole("button", { name: "Check this computer" }));
  expect(computerCheck.isOpen).toBe(true);
  expect(host.requests("check_computer"), "the check should start at once").toHaveLength(1);
});

describe("a failed start", () => {
  const failure = (reason: "command_not_found" | "refused") => ({
    ...{ is: "failed" as const, reason, message: "gone", stderr: [] },
    ...{ searchedFolders: [], hint: null },
  });

  test("opens the dialog with the matching checks", async () => {
    await startFakeHost({ check_computer: () => found });
    render(ServerFailure, { server: sampleServer(), failure: failure("command_not_found") });
    await user.click(screen.getByRole("button", { name: "Check this computer" }));
    expect(computerCheck.about).toEqual({ server: "files", checks: ["node", "search_path"] });
  });

  test("does not blame the computer for a start that the user denied", async () => {
    await startFakeHost();
    render(ServerFailure, { server: sampleServer(), failure: failure("refused") });
    expect(screen.queryByRole("button", { name: "Check this computer" })).toBeNull();
  });

  test("selects the checks for the kind of server", () => {
    const local = (command: string, sandbox = false): ServerConfig => ({
      ...{ type: "stdio", command, args: [], env: {}, cwd: null, revision: null },
      ...(sandbox ? { sandbox: { folders: [], network: { preset: "files_only" } } } : {}),
    });
    const remote: ServerConfig = {
      ...{ type: "http", url: "https://example.com", kind: null, revision: null },
      ...{ auth: null, headers: [] },
    };
    expect(checksForFailure("command_not_found", local("C:\\tools\\uvx.EXE"))).toEqual([
      "uv",
      "search_path",
    ]);
    expect(checksForFailure("command_not_found", local("__proto__"))).toEqual([
      "programs",
      "search_path",
    ]);
    expect(checksForFailure("could_not_start", local("/opt/tool", true))[0]).toBe("sandbox");
    expect(checksForFailure("exited_early", local("npx", true))).toEqual([
      ...["node", "sandbox", "proxy", "certificates"],
    ]);
    expect(checksForFailure("exited_early", local("/opt/tool"))).toEqual([]);
    expect(
      checksForFailure("exited_early", local("bunx")),
      "a launcher without a check of its own still loads its package over the network",
    ).toEqual(["proxy", "certificates"]);
    expect(checksForFailure("unreachable", remote)).toEqual(["proxy", "certificates", "clock"]);
    expect(checksForFailure("unresponsive", remote)).toEqual(["proxy", "certificates", "clock"]);
    expect(checksForFailure("unresponsive", local("npx"))).toEqual([]);
    expect(checksForFailure("unauthorized", remote)).toEqual([]);
    expect(checksForFailure("no_secret", remote)).toEqual(["keychain"]);
  });
});
