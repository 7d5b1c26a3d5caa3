import { render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";

import { ApiError } from "$lib/api/client";
import { router } from "$lib/state/router.svelte";
import { axeProblems } from "$lib/testing/axe";

import { explainMissingCapability } from "./missing-capability";
import ServerErrorNote from "./ServerErrorNote.svelte";

const failed = (rpcCode: number, rpcData: unknown) =>
  new ApiError({
    code: "server",
    message: `demo: Missing required client capability (code ${rpcCode})`,
    data: { rpcCode, rpcMessage: "Missing required client capability", rpcData },
  } as ConstructorParameters<typeof ApiError>[0]);

test("E13: explains that sampling is disabled and links to the setting", async () => {
  const error = failed(-32021, { requiredCapabilities: { sampling: {} } });
  const again = vi.fn();
  render(ServerErrorNote, { error, server: "demo", actions: [{ label: "Try again", run: again }] });
  expect(screen.getByRole("alert")).toHaveTextContent("Sampling is off for demo");
  expect(screen.getByRole("alert"), "the error code should not be shown").not.toHaveTextContent(
    "32021",
  );
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  await userEvent.click(screen.getByRole("button", { name: "Open the setting" }));
  expect(router.current).toMatchObject({ at: "server", name: "demo", tab: "permissions" });
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(again).toHaveBeenCalledOnce();
});

test("E13: explains disabled tools, and leaves other errors unchanged", () => {
  const tools = failed(-32021, { requiredCapabilities: { sampling: { tools: {} } } });
  expect(explainMissingCapability(tools, "demo")?.title).toBe(
    "Sampling with tools is off for demo",
  );
  for (const [code, data] of [
    [-32021, { requiredCapabilities: { elicitation: {} } }],
    [-32021, { requiredCapabilities: null }],
    [-32021, "sampling"],
    [-32021, null],
    [-32603, { requiredCapabilities: { sampling: {} } }],
  ] as const) {
    expect(explainMissingCapability(failed(code, data), "demo"), JSON.stringify(data)).toBeNull();
  }
  expect(explainMissingCapability(new Error("sampling"), "demo")).toBeNull();
  render(ServerErrorNote, { error: failed(-32603, null), server: "demo" });
  expect(screen.getByRole("alert")).toHaveTextContent("code -32603");
});
