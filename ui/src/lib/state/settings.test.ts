import { beforeEach, expect, test, vi } from "vitest";

import type { Settings } from "$lib/api/generated";
import { startFakeHost, type FakeHost } from "$lib/testing/fake-host";
import { settle } from "$lib/testing/settle";

import { app } from "./app.svelte";

let host: FakeHost;
let settings: Settings;

beforeEach(async () => {
  vi.useFakeTimers();
  host = await startFakeHost();
  settings = host.snapshot.settings;
});

function announce(changes: Partial<Settings>) {
  host.send({ type: "settings_changed", settings: { ...settings, ...changes } });
}

test("shows a change until its own event, even if another process changes the settings before", async () => {
  const changed = app.changeSettings({ theme: "dark" });
  await settle();
  announce({ announce: false });
  await changed;
  expect(
    app.settings,
    "the pending change should be applied to the settings of the other process",
  ).toEqual({
    ...settings,
    ...{ theme: "dark", announce: false },
  });
  announce({ theme: "dark" });
  expect(app.settings, "the settings should be those of the host").toEqual({
    ...settings,
    theme: "dark",
  });
  announce({ theme: "system" });
  expect(app.settings.theme, "a later change should replace it").toBe("system");
});

test("treats limits that the host filled in and clamped as the result of a change", async () => {
  const limits = (calls: number) => ({ calls }) as Settings["limits"];
  const chat = {} as Settings["chat"];
  await app.changeSettings({ limits: limits(1e9), chat: undefined });
  announce({ limits: limits(256), chat });
  expect(app.settings, "the settings should be those of the host").toEqual({
    ...settings,
    limits: limits(256),
    chat,
  });
});
