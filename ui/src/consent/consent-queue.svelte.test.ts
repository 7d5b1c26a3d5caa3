import { describe, expect, it } from "vitest";

import type { ServerCall, ConsentRequest } from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";

import {
  consentRequest,
  rootsBody,
  samplingRequestBody,
  samplingResponseBody,
  urlBody,
} from "./fixtures";
import { ConsentQueue, groupByServer } from "./consent-queue.svelte";

function requestOfCall(id: string, server = "files", hash = "h1"): ConsentRequest {
  return consentRequest(urlBody, { id, server, hash });
}

function queueOf(...first: ConsentRequest[]) {
  let all = $state.raw(first);
  const queue = new ConsentQueue(() => all);
  return { queue, set: (...requests: ConsentRequest[]) => (all = requests) };
}

describe("queue", () => {
  it("shows the first request, and keeps it current when others arrive", () => {
    const { queue, set } = queueOf(requestOfCall("a"));
    expect(queue.current?.id, "the only request should be current").toBe("a");
    queue.keepCurrent();
    set(requestOfCall("b"), requestOfCall("a"), requestOfCall("c"));
    expect(queue.current?.id, "the request should stay current at any position of the others").toBe(
      "a",
    );
    expect(queue.index, "the position should be reported").toBe(1);
  });

  it("does not count the next step of an opened request as opened", () => {
    const { queue, set } = queueOf(consentRequest(samplingRequestBody, { id: "a" }));
    queue.show("a");
    expect(queue.isCurrentOpened).toBe(true);
    set(consentRequest(samplingResponseBody("Paris."), { id: "a", hash: "h2" }));
    expect(queue.current?.hash, "the next step should be shown").toBe("h2");
    expect(queue.isCurrentOpened).toBe(false);
  });

  it("continues with the first request when the current one is removed", () => {
    const { queue, set } = queueOf(requestOfCall("a"), requestOfCall("b"), requestOfCall("c"));
    queue.step(1);
    expect(queue.current?.id, "the next request should be current").toBe("b");
    set(requestOfCall("a"), requestOfCall("c"));
    expect(queue.current?.id, "the oldest request should be current").toBe("a");
  });

  it("lets servers take turns: a server with many requests does not delay the others", () => {
    const many = Array.from({ length: 5 }, (_, i) => requestOfCall(`a${i}`, "noisy"));
    const others = [
      requestOfCall("b0", "second"),
      requestOfCall("c0", "third"),
      requestOfCall("b1", "second"),
    ];
    const { queue } = queueOf(...many, ...others);
    const shown: (string | undefined)[] = [];
    for (let i = 0; i < 8; i++) {
      queue.keepCurrent();
      shown.push(queue.current?.id);
      if (queue.current) queue.markAnswered(queue.current);
    }
    expect(
      shown,
      "the oldest request of each server should be shown in turn, followed by the rest",
    ).toEqual(["a0", "b0", "c0", "a1", "b1", "a2", "a3", "a4"]);
  });

  it("does not show a request again that was put aside, until it is opened", () => {
    const { queue, set } = queueOf(requestOfCall("a"), requestOfCall("b"));
    queue.keepCurrent();
    queue.putAside(requestOfCall("a"));
    expect(queue.current?.id, "the next request should be shown").toBe("b");
    queue.keepCurrent();
    queue.putAside(requestOfCall("b"));
    expect(queue.current, "no request should be shown").toBeNull();
    expect(queue.open.length, "both requests should stay pending").toBe(2);
    set(requestOfCall("a", "files", "h2"), requestOfCall("b"));
    expect(queue.current, "a request with other bytes should not be shown by itself").toBeNull();
    queue.show("a");
    expect(queue.current?.id, "the request should be shown once it is opened").toBe("a");
    set(requestOfCall("b"));
    expect(queue.current, "the other request should stay aside").toBeNull();
  });

  it("shows the next step of a sampling request that was put aside", () => {
    const request = { ...requestOfCall("a"), body: samplingRequestBody };
    const { queue, set } = queueOf(request);
    queue.putAside(request);
    expect(queue.current, "the request should not be shown").toBeNull();
    set({ ...request, body: samplingResponseBody("Hello") });
    expect(queue.current?.id, "the answer of the model should be shown").toBe("a");
  });

  it("cycles in both directions", () => {
    const { queue } = queueOf(requestOfCall("a"), requestOfCall("b"), requestOfCall("c"));
    queue.step(-1);
    expect(queue.current?.id, "the last request should precede the first").toBe("c");
    queue.step(1);
    expect(queue.current?.id, "the first request should follow the last").toBe("a");
  });

  it("does not show a decided request again, but a new version of it", () => {
    const { queue, set } = queueOf(requestOfCall("a", "files", "h1"), requestOfCall("b"));
    const first = queue.current;
    if (first) queue.markAnswered(first);
    expect(
      queue.current?.id,
      "the decided request should not be shown while its removal is pending",
    ).toBe("b");
    set(requestOfCall("a", "files", "h2"), requestOfCall("b"));
    expect(
      queue.open.map((q) => q.id),
      "a request with another hash should be shown, as in the second step of sampling",
    ).toEqual(["a", "b"]);
  });

  it("E7: lists requests for folders outside of a call without showing them", () => {
    const folders = (origin: ConsentRequest["origin"]) => ({
      ...requestOfCall("a"),
      body: rootsBody,
      origin,
    });
    const { queue, set } = queueOf(folders({ by: "server" }));
    expect(queue.current, "the request should not be shown automatically").toBeNull();
    expect(queue.open.length, "the request should be listed").toBe(1);
    queue.show("a");
    expect(queue.current?.id, "the request should be shown once it is selected").toBe("a");
    set(folders({ by: "call", call: "c", kind: "tool", name: "list", conversation: null }));
    expect(queue.current?.id, "the request should be shown if a call waits for it").toBe("a");
  });

  it("E7: shows a request for folders that may belong to a call that began before it", () => {
    const { queue } = queueOf({ ...requestOfCall("a"), body: rootsBody, origin: { by: "server" } });
    const call = { id: "c", server: "files", kind: "tool", name: "list", state: "running" };
    const at = (startedAt: number) =>
      ({ ...call, startedAt, progress: null, task: null, conversation: null }) as ServerCall;
    app.calls = [at(requestOfCall("a").askedAt + 1)];
    expect(queue.current, "a call should not wait for an earlier request").toBeNull();
    app.calls = [at(requestOfCall("a").askedAt - 1)];
    expect(queue.current?.id, "the request should be shown, because the call may wait for it").toBe(
      "a",
    );
    app.calls = [];
  });

  it("has no current request if none is pending", () => {
    const { queue } = queueOf();
    queue.step(1);
    expect(queue.current, "no request should be current").toBeNull();
  });

  it("groups by server in the order of their first requests", () => {
    const groups = groupByServer([
      requestOfCall("a", "x"),
      requestOfCall("b", "y"),
      requestOfCall("c", "x"),
    ]);
    expect(
      groups.map((g) => [g.server, g.requests.map((q) => q.id)]),
      "each server should have one group",
    ).toEqual([
      ["x", ["a", "c"]],
      ["y", ["b"]],
    ]);
  });
});
