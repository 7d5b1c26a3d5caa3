import { beforeEach, expect, test } from "vitest";

import type { AppContext, OpenedApp } from "$lib/api/generated";
import { startFakeHost } from "$lib/testing/fake-host";

import { appReport } from "./app-report";
import { AppSession } from "./app-session.svelte";

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

beforeEach(async () => {
  await startFakeHost();
  const subject = { server: "files", tool: "chart", uri: "ui://files/chart", conversation: null };
  session = new AppSession(subject, OPENED, CONTEXT, () => undefined);
});

test("lists blocked requests and console output with their levels", () => {
  const blocked = { directive: "connect-src", address: "https://api.example/" };
  session.diagnostics.add({ type: "blocked", ...blocked }, 0);
  session.diagnostics.add({ type: "blocked", ...blocked }, 0);
  session.diagnostics.add({ type: "console", level: "warning", text: "slow" }, 2);
  session.diagnostics.add({ type: "failed", text: "Error: no data" }, 0);
  session.diagnostics.add({ type: "webgl_missing" }, 0);
  const report = appReport(session, "default-src 'none'");
  expect(report).toContain("Blocked requests:\nconnect-src https://api.example/ (2 times)\n");
  expect(report).toContain("Console output:\nWebGL is missing\n");
  expect(report).toMatch(/^\S+ warning: slow$/m);
  expect(report).toMatch(/^\S+ uncaught: Error: no data$/m);
  expect(report).toContain("\n2 reports were dropped\n");
});

test("no text of the app begins a line", () => {
  for (const end of ["\n", "\r\n", "\r", "\u2028"]) {
    session.diagnostics.add({ type: "console", level: "error", text: `a${end}State: fine` }, 0);
    session.diagnostics.add({ type: "blocked", directive: `a${end}State: fine`, address: end }, 0);
  }
  const lines = appReport(session, null).split(/[\n\r\u2028]/);
  expect(lines.filter((line) => line.startsWith("State:"))).toEqual(["State: self_test"]);
});
