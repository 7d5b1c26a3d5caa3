import { beforeEach, describe, expect, test, vi } from "vitest";

import type { ServerCall, ConsentRequest } from "$lib/api/generated";
import { resetPageState } from "$lib/page-state";
import { setPlatform } from "$lib/platform";
import { FakeHost, sampleServer } from "$lib/testing/fake-host";
import { settle } from "$lib/testing/settle";

import { NO_REVIEW_MARKS } from "../../review/review-labels";

import { app } from "./app.svelte";

function consentRequest(id: string, server = "files"): ConsentRequest {
  return {
    id,
    hash: `hash of ${id}`,
    server,
    transport: "stdio",
    commandLine: "npx files",
    askedAt: 0,
    origin: { by: "server" },
    round: null,
    body: { kind: "roots" },
    scopes: ["once"],
    reason: "",
    marks: NO_REVIEW_MARKS,
  };
}

function call(id: string, state: ServerCall["state"]): ServerCall {
  return {
    id,
    server: "files",
    kind: "tool",
    name: "read",
    startedAt: 0,
    state,
    progress: null,
    task: null,
    conversation: null,
  };
}

let host: FakeHost;

beforeEach(async () => {
  vi.useFakeTimers();
  host = new FakeHost({}, { servers: [sampleServer()] });
  setPlatform(host);
  await app.start();
});

describe("the snapshot", () => {
  test("fills the store", () => {
    expect(app.ready, "the store should be ready once the snapshot is read").toBe(true);
    expect(
      app.servers.map((s) => s.name),
      "the servers of the snapshot should be stored",
    ).toEqual(["files"]);
  });

  test("reports a failed read, which can be retried", async () => {
    resetPageState();
    const broken = new FakeHost();
    const working = broken.call.bind(broken);
    broken.call = () => Promise.reject({ code: "system", message: "no host" });
    setPlatform(broken);
    await app.start();
    expect(app.ready, "the store should not be ready without a snapshot").toBe(false);
    expect((app.failure as Error).message, "the error of the host should be reported").toBe(
      "no host",
    );
    broken.call = working;
    await app.refresh();
    expect(app.ready, "the store should be ready after the retry").toBe(true);
    expect(app.failure, "the error should be cleared").toBeNull();
  });
});

describe("events", () => {
  test("updates, adds and removes servers", () => {
    host.send({ type: "server_changed", server: sampleServer({ state: { is: "stopped" } }) });
    expect(app.server("files")?.state.is, "the server should be updated").toBe("stopped");
    host.send(
      { type: "server_changed", server: sampleServer({ name: "git" }) },
      { type: "server_removed", name: "files" },
    );
    expect(
      app.servers.map((s) => s.name),
      "the new server should be added, and the removed one deleted",
    ).toEqual(["git"]);
  });

  test("keeps the queue in order and closed requests separate", () => {
    host.send({ type: "consent_request_changed", consentRequest: consentRequest("a") });
    host.send({ type: "consent_request_changed", consentRequest: consentRequest("b", "git") });
    host.send({
      type: "consent_request_changed",
      consentRequest: { ...consentRequest("a"), hash: "new" },
    });
    expect(
      app.consentRequests.map((q) => `${q.id} ${q.hash}`),
      "a changed request should keep its position",
    ).toEqual(["a new", "b hash of b"]);
    expect(
      app.consentRequestsOf("git").map((q) => q.id),
      "the requests of one server should be returned",
    ).toEqual(["b"]);
    host.send({ type: "consent_request_closed", id: "a", outcome: "denied" });
    expect(
      app.consentRequests.map((q) => q.id),
      "a closed request should be removed",
    ).toEqual(["b"]);
    expect(app.closed[0]?.outcome, "the outcome should be retained").toBe("denied");
  });

  test("retains all running calls and a bounded number of ended ones", () => {
    host.send({ type: "call_changed", call: call("first", "running") });
    for (let i = 0; i < 150; i++)
      host.send({ type: "call_changed", call: call(`done ${i}`, "done") });
    expect(app.calls.length, "100 ended calls and the running call should be retained").toBe(101);
    expect(app.call("first")?.state, "the running call should be retained").toBe("running");
    expect(app.call("done 0"), "the oldest ended call should be dropped").toBeUndefined();
    expect(app.call("done 149")?.state, "the latest ended call should be retained").toBe("done");
  });

  test("notifies listeners after events were applied", () => {
    const seen: string[] = [];
    const stop = app.onEvent((event) => {
      if (event.type === "server_removed") seen.push(`${event.name} ${app.servers.length}`);
    });
    host.send({ type: "server_removed", name: "files" });
    stop();
    host.send({ type: "server_removed", name: "files" });
    expect(
      seen,
      "the listener should be called once, after the server was removed, and not after its end",
    ).toEqual(["files 0"]);
  });
});

describe("the sequence of events", () => {
  test("reads the snapshot again after a gap", async () => {
    host.skip(1);
    host.snapshot.servers = [sampleServer({ name: "from the snapshot" })];
    host.send({ type: "server_removed", name: "files" });
    await settle();
    expect(
      app.servers.map((s) => s.name),
      "the state should be that of the new snapshot",
    ).toEqual(["from the snapshot"]);
    host.send({ type: "server_removed", name: "from the snapshot" });
    expect(app.servers, "later events should be applied").toEqual([]);
  });

  test("ignores events that the snapshot already covers", () => {
    host.send({ type: "server_changed", server: sampleServer({ pid: 1 }) });
    app.receive({
      first: 1,
      events: [
        { type: "server_removed", name: "files" },
        { type: "server_changed", server: sampleServer({ pid: 2 }) },
      ],
    });
    expect(app.server("files")?.pid, "only the second event should be applied").toBe(2);
  });

  test("applies events that arrive during a read afterwards", async () => {
    const refreshed = app.refresh();
    host.send({ type: "server_changed", server: sampleServer({ pid: 77 }) });
    await refreshed;
    expect(app.server("files")?.pid, "the later event should be applied").toBe(77);
  });

  test("reads the snapshot again after a reconnect", async () => {
    host.snapshot.servers = [];
    host.reconnect();
    await settle();
    expect(app.servers, "the state should be that of the new snapshot").toEqual([]);
  });
});
