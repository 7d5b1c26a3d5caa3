import { screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { describe, expect, test } from "vitest";

import type { Server, ServerConfig } from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import { sampleServer } from "$lib/testing/fake-host";

import { draftProblems } from "./draft-problems";
import { ServerDraft } from "./draft.svelte";
import { showServerTab } from "./server-page-fixtures";

const user = userEvent.setup();

const local: Extract<ServerConfig, { type: "stdio" }> = {
  ...{ type: "stdio", command: "npx", args: [], env: {}, cwd: null, revision: null },
};

/** Opens the settings of a server with this tool filter. */
async function settings(tools?: ServerConfig["tools"]) {
  const config: Server["config"] = { ...local, ...(tools ? { tools } : {}) };
  const host = await showServerTab(
    "settings",
    { config },
    { update_server: () => ({ onlyThisRun: null }) },
  );
  return { host, config };
}

const which = () => screen.getByRole("combobox", { name: "Tools for models" });
const enabled = () => screen.queryByRole("textbox", { name: "Offered tools" });
const disabled = () => screen.getByRole("textbox", { name: "Tools turned off" });
const save = () => user.click(screen.getByRole("button", { name: "Save" }));

test("a server that is not to start with Drawbridge is saved without a warning of a restart", async () => {
  const { host } = await settings();
  const box = screen.getByRole("checkbox", { name: "Start with Drawbridge" });
  expect(box, "it should be on by default").toBeChecked();
  await user.click(box);
  expect(screen.queryByText(/stops the server/)).toBeNull();
  await save();
  expect(host.requests("update_server")).toEqual([
    { ...{ server: "files", name: "files" }, config: { ...local, autostart: false } },
  ]);
});

describe("the lists of tools for models", () => {
  test("are empty for a server that offers all", async () => {
    const { host } = await settings();
    await user.click(screen.getByText("Advanced"));
    expect(which()).toHaveValue("all");
    expect(enabled(), "there should be no list of offered tools").toBeNull();
    await user.type(disabled(), "delete_*{Enter}{Enter} push ");
    expect(
      screen.queryByText(/stops the server/),
      "a change of the lists should not stop the server",
    ).toBeNull();
    expect(await axeProblems(), "axe should find no violations").toEqual([]);
    await save();
    expect(host.requests("update_server"), "empty lines should be omitted").toEqual([
      {
        ...{ server: "files", name: "files" },
        config: { ...local, tools: { enabled: null, disabled: ["delete_*", "push"] } },
      },
    ]);
  });

  test("are shown as they are, and cleared", async () => {
    const { host } = await settings({ enabled: ["read_*", "list"], disabled: ["read_all"] });
    expect(which(), "the section should be expanded").toBeVisible();
    expect(which()).toHaveValue("only");
    expect(enabled()).toHaveValue("read_*\nlist");
    expect(disabled()).toHaveValue("read_all");
    await user.selectOptions(which(), "all");
    await user.clear(disabled());
    await save();
    expect(
      host.requests("update_server"),
      "empty lists should be sent, because omitted ones are kept",
    ).toEqual([
      {
        ...{ server: "files", name: "files" },
        config: { ...local, tools: { enabled: null, disabled: [] } },
      },
    ]);
  });

  test("can offer no tool", async () => {
    const { host } = await settings();
    await user.click(screen.getByText("Advanced"));
    await user.selectOptions(which(), "only");
    expect(screen.getByText(/offered no tool while this is empty/)).toBeVisible();
    await save();
    expect(host.requests("update_server")).toMatchObject([
      { config: { tools: { enabled: [], disabled: [] } } },
    ]);
  });

  test("follow the settings file", async () => {
    const { host, config } = await settings({ enabled: null, disabled: ["push"] });
    const changed = { ...config, tools: { enabled: ["log"], disabled: [] } };
    host.send({ type: "server_changed", server: sampleServer({ config: changed }) });
    await waitFor(() => expect(disabled()).toHaveValue(""));
    expect(enabled()).toHaveValue("log");
  });

  test("are not saved if they are too long", async () => {
    const { host } = await settings({ enabled: null, disabled: ["push"] });
    await user.clear(disabled());
    await user.click(disabled());
    await user.paste("é".repeat(501));
    await save();
    expect(screen.getByText(/1,000 names of 1,000 bytes/)).toBeVisible();
    expect(disabled(), "the field should be marked as invalid").toBeInvalid();
    expect(host.requests("update_server"), "nothing should be sent").toEqual([]);
  });

  test("report a problem at the field that has it", async () => {
    const { host } = await settings({ enabled: ["read"], disabled: ["push"] });
    await user.clear(enabled() as HTMLElement);
    await user.click(enabled() as HTMLElement);
    await user.paste("é".repeat(501));
    await save();
    expect(
      screen.getAllByText(/1,000 names of 1,000 bytes/),
      "the problem should be shown once",
    ).toHaveLength(1);
    expect(enabled(), "the list with the long name should be invalid").toBeInvalid();
    expect(disabled(), "the other list should be valid").toBeValid();
    await user.click(disabled());
    await user.paste("é".repeat(501));
    await save();
    expect(
      screen.getAllByText(/1,000 names of 1,000 bytes/),
      "the problem should be shown at both lists",
    ).toHaveLength(2);
    expect(disabled()).toBeInvalid();
    expect(host.requests("update_server"), "nothing should be sent").toEqual([]);
  });

  test("have a maximum number of names", () => {
    const draft = new ServerDraft("files", local);
    draft.tools.disabled = "x\n".repeat(1_000);
    expect(draftProblems(draft, []), "the maximum of the host should be accepted").toEqual([]);
    draft.tools.disabled += "y";
    expect(draftProblems(draft, [])).toEqual(["tools_disabled_long"]);
    draft.tools.which = "only";
    draft.tools.enabled = draft.tools.disabled;
    const both = ["tools_enabled_long", "tools_disabled_long"];
    expect(draftProblems(draft, []), "each list should be counted separately").toEqual(both);
  });

  test("keep unusual names that were not edited", () => {
    const tools = { enabled: null, disabled: [" a\nb "] };
    expect(new ServerDraft("files", { ...local, tools }).config).toEqual({ ...local, tools });
  });
});
