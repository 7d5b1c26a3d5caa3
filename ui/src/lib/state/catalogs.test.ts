import { beforeEach, expect, test, vi } from "vitest";

import type { ServerCatalog } from "$lib/api/generated";
import { NO_EXPIRY, sampleServer, startFakeHost } from "$lib/testing/fake-host";
import { settle } from "$lib/testing/settle";

import { catalogs } from "./catalogs.svelte";

function catalog(server: string, ...notes: string[]): ServerCatalog {
  return {
    server,
    tools: [],
    prompts: [],
    resources: [],
    templates: [],
    notes,
    freshUntil: NO_EXPIRY,
  };
}

beforeEach(() => void vi.useFakeTimers());

test("reads a catalog once, on first use, and only of a ready server", async () => {
  const host = await startFakeHost(
    { read_catalog: ({ server }) => catalog(server) },
    {
      servers: [sampleServer({ name: "a" }), sampleServer({ name: "b", state: { is: "stopped" } })],
    },
  );
  catalogs.request("a");
  catalogs.request("a");
  catalogs.request("b");
  expect(catalogs.get("a").loading, "the catalog should be loading").toBe(true);
  await settle();
  catalogs.request("a");
  expect(host.requests("read_catalog"), "only the ready server should be read").toEqual([
    { server: "a" },
  ]);
  expect(catalogs.get("a").value?.server, "the catalog should be loaded").toBe("a");
  expect(catalogs.get("b").value, "the stopped server should have no catalog").toBeNull();
});

test("reads a change again, also when it arrives during a read", async () => {
  let reads = 0;
  const host = await startFakeHost(
    { read_catalog: ({ server }) => catalog(server, `read ${(reads += 1)}`) },
    { servers: [sampleServer({ name: "c" })] },
  );
  catalogs.request("c");
  host.send({ type: "catalog_changed", server: "c" });
  host.send({ type: "catalog_changed", server: "c" });
  host.send({ type: "catalog_changed", server: "not wanted" });
  await settle();
  expect(catalogs.get("c").value?.notes, "both changes should cause one more read").toEqual([
    "read 2",
  ]);
  expect(reads, "no other read should be made").toBe(2);
});

test("retains the old catalog after a failure until it can be read", async () => {
  let fails = false;
  const host = await startFakeHost(
    {
      read_catalog: ({ server }) => {
        if (fails) throw { code: "timeout", message: "too slow" };
        return catalog(server);
      },
    },
    { servers: [sampleServer({ name: "d" })] },
  );
  await catalogs.read("d");
  fails = true;
  host.send({ type: "catalog_changed", server: "d" });
  await settle();
  expect((catalogs.get("d").error as Error).message, "the cause should be reported").toBe(
    "too slow",
  );
  expect(catalogs.get("d").value, "the old catalog should be retained").not.toBeNull();
  fails = false;
  await catalogs.read("d");
  expect(catalogs.get("d").error, "the error should be cleared").toBeNull();
});

test("a refreshed list does not replace a later read", async () => {
  let answer: (catalog: ServerCatalog) => void = () => undefined;
  let reads = 0;
  const host = await startFakeHost(
    {
      read_catalog: ({ server }) => catalog(server, `read ${(reads += 1)}`),
      refresh_list: () => new Promise((resolve) => (answer = resolve)),
    },
    { servers: [sampleServer({ name: "f" })] },
  );
  await catalogs.read("f");
  const refreshed = catalogs.refresh("f", "tools");
  host.send({ type: "catalog_changed", server: "f" });
  await settle();
  answer(catalog("f", "refreshed before the change"));
  await refreshed;
  expect(catalogs.get("f").value?.notes, "the catalog should be read once more").toEqual([
    "read 3",
  ]);
  const plain = catalogs.refresh("f", "tools");
  answer(catalog("f", "refreshed"));
  await plain;
  expect(
    catalogs.get("f").value?.notes,
    "a refreshed list should be used if nothing was read in between",
  ).toEqual(["refreshed"]);
});

test("drops the catalog of a stopped server, and reads it again once it is ready", async () => {
  const host = await startFakeHost(
    { read_catalog: ({ server }) => catalog(server) },
    { servers: [sampleServer({ name: "e" })] },
  );
  await catalogs.read("e");
  catalogs.request("e");
  const late = catalogs.read("e");
  host.send({
    type: "server_changed",
    server: sampleServer({ name: "e", state: { is: "stopped" } }),
  });
  await late;
  expect(
    catalogs.get("e").value,
    "the catalog should be dropped, and a late response ignored",
  ).toBeNull();
  host.send({ type: "server_changed", server: sampleServer({ name: "e" }) });
  catalogs.request("e");
  await settle();
  expect(catalogs.get("e").value, "the catalog should be read again").not.toBeNull();
});

test("reads the catalog again when a definition was reviewed by an approved call", async () => {
  const host = await startFakeHost(
    { read_catalog: ({ server }) => catalog(server) },
    { servers: [sampleServer({ name: "r", unreviewed: { new: 2, changed: 0 } })] },
  );
  await catalogs.read("r");
  host.send({
    type: "server_changed",
    server: sampleServer({ name: "r", unreviewed: { new: 2, changed: 0 } }),
  });
  await settle();
  expect(host.requests("read_catalog").length, "other changes need no reading").toBe(1);
  host.send({
    type: "server_changed",
    server: sampleServer({ name: "r", unreviewed: { new: 1, changed: 0 } }),
  });
  await settle();
  expect(host.requests("read_catalog").length, "the list should be read again").toBe(2);
});
