// Data flow settings: consent for calls after a server's content, and reviewed results.
import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import type { DataFlow as Flow } from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import { sampleServer, startFakeHost } from "$lib/testing/fake-host";

import DataFlow from "./DataFlow.svelte";
import ToolReview from "./ToolReview.svelte";

const user = userEvent.setup();
const { flow } = sampleServer();

async function show(changed: Partial<Flow> = {}) {
  const host = await startFakeHost({ set_data_flow: () => ({}) });
  render(DataFlow, { server: sampleServer({ flow: { ...flow, ...changed } }) });
  return host;
}

test("S26: a server's own content makes its calls require consent, until the user disables that", async () => {
  const host = await show();
  const select = screen.getByRole("combobox", { name: "Ask before a model calls this server" });
  expect(select, "the protection should be enabled by default").toHaveValue("open_world");
  expect(screen.queryByText(/that content misled/), "there should be no warning").toBeNull();
  await user.selectOptions(select, "off");
  expect(host.requests("set_data_flow").at(-1), "the protection should be disabled").toEqual({
    server: "files",
    flow: { ...flow, sameServer: "off" },
  });
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
});

test("S26: warns about disabled protection", async () => {
  await show({ sameServer: "off" });
  expect(screen.getByText(/that content misled/), "the warning should be shown").toBeVisible();
});

test("S27: sets the review of results for a server and for one tool", async () => {
  const host = await show();
  const select = screen.getByRole("combobox", {
    name: "Review results before a model reads them",
  });
  expect(select, "suspicious results should be reviewed by default").toHaveValue("suspicious");
  await user.selectOptions(select, "always");
  expect(
    host.requests("set_data_flow").at(-1)?.flow,
    "the setting of the server should be changed",
  ).toEqual({
    ...flow,
    review: "always",
  });
  const tools = { fetch: "always", other: "off" } as const;
  render(ToolReview, { server: sampleServer({ flow: { ...flow, tools } }), tool: "fetch" });
  const own = screen.getByRole("combobox", {
    name: "Review this tool's results before a model reads them",
  });
  expect(own, "the setting of the tool should be shown").toHaveValue("always");
  await user.selectOptions(own, "");
  expect(
    host.requests("set_data_flow").at(-1)?.flow.tools,
    "the setting of the tool should be removed",
  ).toEqual({
    other: "off",
  });
});
