import { describe, expect, it } from "vitest";

import type { ServerCall, ConsentRequest } from "$lib/api/generated";
import { app } from "$lib/state/app.svelte";

import { consentRequest, rootsBody, urlBody } from "./fixtures";
import { ConsentQueue, groupByServer } from "./consent-queue.svelte";

function asked(id: string, server = "files", hash = "h1"): ConsentRequest {
  return consentRequest(urlBody, { id, server, hash });
}

function queueOf(...first: ConsentRequest[]) {
  let all = $state.raw(first);
  const queue = new ConsentQueue(() => all);
  return { queue, set: (...requests: ConsentRequest[]) => (all = requests) };
}

describe("queue", () => {
  it("shows the first that came, and keeps it in front when others come", () => {
    const { queue, set } = queueOf(asked("a"));
    expect(queue.current?.id, "the only request is current").toBe("a");
    queue.keepCurrent();
    set(asked("b"), asked("a"), asked("c"));
    expect(queue.current?.id, "it stays in front, wherever the others are put").toBe("a");
    expect(queue.index, "and its place is counted as it is").toBe(1);
  });

  it("goes on with the first when the one in front is gone", () => {
    const { queue, set } = queueOf(asked("a"), asked("b"), asked("c"));
    queue.step(1);
    expect(queue.current?.id, "the next one was asked for").toBe("b");
    set(asked("a"), asked("c"));
    expect(queue.current?.id, "first come, first shown").toBe("a");
  });

  it("lets servers take turns: one that asks much does not keep the others waiting", () => {
    const many = Array.from({ length: 5 }, (_, i) => asked(`a${i}`, "noisy"));
    const others = [asked("b0", "second"), asked("c0", "third"), asked("b1", "second")];
    const { queue } = queueOf(...many, ...others);
    const shown: (string | undefined)[] = [];
    for (let i = 0; i < 8; i++) {
      queue.keepCurrent();
      shown.push(queue.current?.id);
      if (queue.current) queue.markAnswered(queue.current);
    }
    expect(shown, "each server's oldest in turn, then what is left").toEqual([
      "a0",
      "b0",
      "c0",
      "a1",
      "b1",
      "a2",
      "a3",
      "a4",
    ]);
  });

  it("goes round in both directions", () => {
    const { queue } = queueOf(asked("a"), asked("b"), asked("c"));
    queue.step(-1);
    expect(queue.current?.id, "before the first is the last").toBe("c");
    queue.step(1);
    expect(queue.current?.id, "after the last is the first").toBe("a");
  });

  it("does not show what was answered again, but a new version of it", () => {
    const { queue, set } = queueOf(asked("a", "files", "h1"), asked("b"));
    const first = queue.current;
    if (first) queue.markAnswered(first);
    expect(queue.current?.id, "the answered one is not shown while the news is under way").toBe(
      "b",
    );
    set(asked("a", "files", "h2"), asked("b"));
    expect(
      queue.open.map((q) => q.id),
      "with another hash it is another request, as in the second step of sampling",
    ).toEqual(["a", "b"]);
  });

  it("E7: leaves folders that a server asks for by itself in the list", () => {
    const folders = (why: ConsentRequest["why"]) => ({ ...asked("a"), body: rootsBody, why });
    const { queue, set } = queueOf(folders({ by: "server" }));
    expect(queue.current, "nobody is interrupted").toBeNull();
    expect(queue.open.length, "it is counted and listed").toBe(1);
    queue.show("a");
    expect(queue.current?.id, "and opened from there").toBe("a");
    set(folders({ by: "call", call: "c", kind: "tool", name: "list" }));
    expect(queue.current?.id, "the user waits for this call").toBe("a");
  });

  it("E7: shows folders that may be asked for by a call that began before", () => {
    const { queue } = queueOf({ ...asked("a"), body: rootsBody, why: { by: "server" } });
    const call = { id: "c", server: "files", kind: "tool", name: "list", state: "running" };
    const at = (startedAt: number) =>
      ({ ...call, startedAt, progress: null, task: null, conversation: null }) as ServerCall;
    app.calls = [at(asked("a").askedAt + 1)];
    expect(queue.current, "it does not wait for what was asked before it").toBeNull();
    app.calls = [at(asked("a").askedAt - 1)];
    expect(queue.current?.id, "it may wait for this").toBe("a");
    app.calls = [];
  });

  it("has no current request if none is pending", () => {
    const { queue } = queueOf();
    queue.step(1);
    expect(queue.current, "no request").toBeNull();
  });

  it("groups by server in the order in which they asked", () => {
    const groups = groupByServer([asked("a", "x"), asked("b", "y"), asked("c", "x")]);
    expect(
      groups.map((g) => [g.server, g.requests.map((q) => q.id)]),
      "one group for each server",
    ).toEqual([
      ["x", ["a", "c"]],
      ["y", ["b"]],
    ]);
  });
});
