import { clearMocks, mockIPC } from "@tauri-apps/api/mocks";
import { afterEach, expect, test } from "vitest";

import type { Events } from "$lib/api/generated";

import { tauriPlatform } from "./tauri";

afterEach(clearMocks);

interface Channels {
  __TAURI_INTERNALS__: { runCallback: (id: number, message: unknown) => void };
}

test("delivers and acknowledges each batch of events", async () => {
  const commands: string[] = [];
  let channel: { id: number } | undefined;
  mockIPC((command, payload) => {
    commands.push(command);
    if (command === "listen_events") channel = (payload as { channel: { id: number } }).channel;
  });
  const got: Events[] = [];
  await tauriPlatform.listen(
    (events) => got.push(events),
    () => undefined,
  );
  const batch: Events = { first: 1, events: [{ type: "audit_changed" }] };
  const { runCallback } = (window as unknown as Channels).__TAURI_INTERNALS__;
  runCallback(channel?.id ?? -1, { index: 0, message: batch });
  runCallback(channel?.id ?? -1, { index: 1, message: { ...batch, first: 2 } });
  expect(
    got.map((events) => events.first),
    "every batch should be delivered in order",
  ).toEqual([1, 2]);
  expect(commands, "each batch should be acknowledged once").toEqual([
    "listen_events",
    "acknowledge_events",
    "acknowledge_events",
  ]);
});

test("sends the request of a command, and rejects with its error", async () => {
  mockIPC((command, payload) => {
    if (command === "stop_server") throw { code: "not_found", message: "gone" };
    return { command, payload };
  });
  expect(
    await tauriPlatform.call("read_catalog", { server: "a" }),
    "the request should be in the payload",
  ).toEqual({
    command: "read_catalog",
    payload: { request: { server: "a" } },
  });
  await expect(
    tauriPlatform.call("stop_server", { server: "a" }),
    "the error should be unchanged",
  ).rejects.toEqual({
    code: "not_found",
    message: "gone",
  });
});
