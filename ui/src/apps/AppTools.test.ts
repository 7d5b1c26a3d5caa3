import { cleanup, render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { tick } from "svelte";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { AppContext, OpenedApp } from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import { startFakeHost, type FakeHost } from "$lib/testing/fake-host";

import { AppSession, type AppTools as Offered } from "./app-session.svelte";
import AppTools from "./AppTools.svelte";

const VIEW = "00112233445566778899aabbccddeeff";
const OPENED: OpenedApp = {
  ...{ view: VIEW, uri: "ui://files/chart", sandbox: "allow-scripts", allow: "" },
  hasBorder: true,
};
const CONTEXT: AppContext = {
  ...{ theme: "light", styles: {}, displayMode: "inline", width: 600, height: 700 },
  ...{ locale: "en", timeZone: "UTC", touch: false, hover: true },
};
const OFFERED: Offered = {
  tools: [{ name: "move", definition: '{\n  "description": "Moves \u202ea card"\n}' }],
  ...{ hash: "h1", dropped: 2, on: false },
};

let host: FakeHost;
let session: AppSession;
let closed: number;

beforeEach(async () => {
  host = await startFakeHost();
  const subject = { server: "files", tool: "chart", uri: "ui://files/chart", conversation: "c" };
  session = new AppSession(subject, OPENED, CONTEXT, () => undefined);
  closed = 0;
});
afterEach(cleanup);

function show(offered: Offered) {
  session.tools = offered;
  render(AppTools, { session, shown: offered, onclose: () => (closed += 1) });
}

test("the model may use exactly the displayed tools", async () => {
  show(OFFERED);
  expect(screen.getByRole("dialog")).toHaveTextContent("Moves [U+202E]a card");
  expect(screen.getByText(/^2 more tools /)).toBeVisible();
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
  await userEvent.click(screen.getByRole("button", { name: "Let the model use them" }));
  await vi.waitFor(() => expect(closed, "the dialog should be closed").toBe(1));
  expect(host.requests("set_app_tools")).toEqual([{ view: VIEW, hash: "h1" }]);
});

test("tools that changed while they were displayed can't be turned on", async () => {
  show(OFFERED);
  session.tools = { ...OFFERED, hash: "h2" };
  await tick();
  expect(screen.getByRole("alert")).toHaveTextContent("The app changed its tools");
  expect(screen.getByRole("button", { name: "Let the model use them" })).toBeDisabled();
});

test("tools that are on can be turned off", async () => {
  show({ ...OFFERED, on: true });
  await userEvent.click(screen.getByRole("button", { name: "Turn off" }));
  await vi.waitFor(() => expect(closed, "the dialog should be closed").toBe(1));
  expect(host.requests("set_app_tools")).toEqual([{ view: VIEW, hash: null }]);
});
