import { cleanup, render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { AppContext, AppDiagnostic, OpenedApp } from "$lib/api/generated";
import { axeProblems } from "$lib/testing/axe";
import { startFakeHost } from "$lib/testing/fake-host";

import { SHOW_DELAY } from "./app-log.svelte";
import { AppSession } from "./app-session.svelte";
import AppStartFailure from "./AppStartFailure.svelte";

const OPENED: OpenedApp = {
  ...{
    view: "00112233445566778899aabbccddeeff",
    uri: "ui://files/chart",
    sandbox: "allow-scripts",
    allow: "",
    hasBorder: true,
  },
};
const CONTEXT: AppContext = {
  ...{ theme: "light", styles: {}, displayMode: "inline", width: 600, height: 700 },
  ...{ locale: "en", timeZone: "UTC", touch: false, hover: true },
};

let session: AppSession;
let opened: number;

beforeEach(async () => {
  await startFakeHost();
  const subject = { server: "files", tool: "chart", uri: "ui://files/chart", conversation: null };
  session = new AppSession(subject, OPENED, CONTEXT, () => undefined);
  opened = 0;
});
afterEach(cleanup);

function show(...reports: AppDiagnostic[]) {
  for (const report of reports) session.diagnostics.add(report, 0);
  render(AppStartFailure, { session, onmessages: () => (opened += 1) });
}

test("names the directive and the address of a blocked request, as text", async () => {
  show({ type: "blocked", directive: "connect-src", address: "https://api.example/<b>x</b>" });
  expect(screen.getByText("The app did not start")).toBeVisible();
  expect(screen.getByText(/its policy \(connect-src\) blocked a request/)).toBeVisible();
  expect(screen.getByText("https://api.example/<b>x</b>")).toBeVisible();
  expect(await axeProblems(), "axe should find no violations").toEqual([]);
});

test("shows an uncaught error with visible characters", () => {
  show({ type: "failed", text: "Error: no \u202edata" });
  expect(screen.getByText("The app reports an error:")).toBeVisible();
  expect(document.body).toHaveTextContent("Error: no U+202Edata");
});

test("says that WebGL is missing", () => {
  show({ type: "webgl_missing" });
  expect(screen.getByText("The app reports that WebGL is not available here.")).toBeVisible();
});

test("without a report, shows the number of messages with problems", () => {
  session.log.addDropped("too large");
  show();
  expect(screen.getByText("The app reported no error. 1 message had a problem.")).toBeVisible();
});

test("shows problems of a flood of messages after a delay, not each of them", async () => {
  vi.useFakeTimers();
  try {
    show();
    for (let at = 0; at < 3; at += 1) session.log.addDropped("too large");
    await vi.advanceTimersByTimeAsync(SHOW_DELAY - 1);
    expect(screen.getByText(/no error\. 0 messages had/)).toBeVisible();
    await vi.advanceTimersByTimeAsync(1);
    expect(screen.getByText(/no error\. 3 messages had/)).toBeVisible();
    session.log.addDropped("too large");
    await vi.advanceTimersByTimeAsync(SHOW_DELAY);
    expect(screen.getByText(/no error\. 4 messages had/)).toBeVisible();
  } finally {
    vi.useRealTimers();
  }
});

test("opens the inspector", async () => {
  show();
  await userEvent.click(screen.getByRole("button", { name: "Messages" }));
  expect(opened).toBe(1);
});
