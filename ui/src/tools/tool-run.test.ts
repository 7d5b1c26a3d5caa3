import { beforeEach, describe, expect, test, vi } from "vitest";

import type {
  CallProgress,
  CallRefusal,
  CallState,
  ServerCall,
  ToolResult,
} from "$lib/api/generated";
import { FakeHost, startFakeHost } from "$lib/testing/fake-host";

import { callEnd } from "./failures";
import { runTool } from "./tool-run.svelte";

const RESULT: ToolResult = {
  content: [{ type: "text", text: "hello" }],
  structured: null,
  structuredProblem: null,
  isError: false,
  arguments: { text: "changed" },
};
const REQUEST = { server: "files", tool: "echo", arguments: { text: "hello" } };

let host: FakeHost;
/** Functions that end the running call, with a result or an error. */
let end: { with: (result: ToolResult) => void; fail: (error: unknown) => void };

beforeEach(async () => {
  host = await startFakeHost({
    call_tool: () =>
      new Promise((resolve, reject) => {
        end = { with: resolve, fail: reject };
      }),
  });
});

function setState(id: string, state: CallState, progress: CallProgress | null = null): void {
  const call: ServerCall = {
    ...{
      id,
      server: "files",
      kind: "tool",
      name: "echo",
      startedAt: 0,
      state,
      progress,
      conversation: null,
      task: null,
    },
  };
  host.send({ type: "call_changed", call });
}

test("goes from waiting to running to its result", async () => {
  const run = runTool(REQUEST);
  expect(host.requests("call_tool"), "the call should be sent once with its id").toEqual([
    { call: run.id, ...REQUEST, conversation: null },
  ]);
  expect(run.state, "the call should be starting before an event arrives").toBe("starting");
  setState(run.id, "awaiting_approval");
  expect(run.state, "the call should wait for consent").toBe("awaiting_approval");
  setState(run.id, "running", { progress: 1, total: 4, message: "one" });
  expect([run.state, run.call?.progress?.message], "the progress should be updated").toEqual([
    "running",
    "one",
  ]);
  setState(run.id, "awaiting_input");
  expect(run.state, "the call should wait for input").toBe("awaiting_input");
  setState(run.id, "done");
  expect([run.state, run.underWay], "the call should run until the response").toEqual([
    "running",
    true,
  ]);
  end.with(RESULT);
  expect(await run.ended, "the promise should resolve to the run").toBe(run);
  expect([run.state, run.result, run.underWay], "the result should be set").toEqual([
    "done",
    RESULT,
    false,
  ]);
  expect(run.took, "the duration should be set").toBeGreaterThanOrEqual(0);
  expect(host.requests("append_items"), "nothing should be stored without a conversation").toEqual(
    [],
  );
});

test.each([
  ["refused", "refused"],
  ["cancelled", "cancelled"],
  ["timeout", "timeout"],
  ["server", "failed"],
  ["server_gone", "failed"],
  ["bad_answer", "failed"],
])("error %s ends the run as %s", async (code, state) => {
  const run = runTool(REQUEST);
  end.fail({ code, message: "in words" });
  await run.ended;
  expect(
    [run.state, run.error?.code, run.error?.message],
    "the state, code and message should match",
  ).toEqual([state, code, "in words"]);
});

test("distinguishes a tool error from a failed call", async () => {
  const run = runTool(REQUEST);
  end.with({ ...RESULT, isError: true });
  await run.ended;
  expect([run.state, run.error], "the run should have a result").toEqual(["tool_error", null]);
});

describe("cancelling", () => {
  test("requests it once, and waits for the host", async () => {
    const run = runTool(REQUEST);
    await run.cancel();
    await run.cancel();
    expect(host.requests("cancel_call"), "the cancellation should be requested once").toEqual([
      { call: run.id },
    ]);
    expect(run.underWay, "the call should run until the host ends it").toBe(true);
    end.fail({ code: "cancelled", message: "" });
    await run.ended;
    await run.cancel();
    expect(host.requests("cancel_call"), "an ended call should not be cancelled").toHaveLength(1);
  });

  test("can be retried after a failure", async () => {
    host.answers.cancel_call = () => Promise.reject({ code: "internal", message: "no" });
    const run = runTool(REQUEST);
    await run.cancel();
    expect([run.notCancelled?.message, run.cancelling], "the error should be set").toEqual([
      "no",
      false,
    ]);
    end.with(RESULT);
    await run.ended;
  });
});

test("lets the host store the outcome with the sent arguments in a conversation", async () => {
  const run = runTool({ ...REQUEST, conversation: "c1" });
  expect(
    host.requests("call_tool")[0]?.conversation,
    "the conversation should be sent to the host",
  ).toBe("c1");
  end.fail({ code: "timeout", message: "no answer in 60 s" });
  await run.ended;
  expect(host.requests("append_items"), "the page should store nothing").toEqual([]);
});

test("E13: an error after the call ran is not shown as never called", async () => {
  async function titleOfRun(refusal: CallRefusal) {
    const run = runTool(REQUEST);
    end.fail({ code: "refused", message: "", refusal });
    await run.ended;
    return run.error && callEnd(run.error.code, run.error.refusal)?.title;
  }
  expect(await titleOfRun({ is: "changed" })).toMatch(/so it was not called$/);
  expect(
    await titleOfRun({ is: "input_refused" }),
    "an error in a later round should mention that the call ran",
  ).toMatch(/while it ran/);
  expect(await titleOfRun({ is: "result_withheld" })).toMatch(/the tool was called/);
});

test("E9: the duration excludes the decision time of the user", async () => {
  vi.useFakeTimers();
  const run = runTool(REQUEST);
  await vi.advanceTimersByTimeAsync(100);
  setState(run.id, "awaiting_approval");
  await vi.advanceTimersByTimeAsync(45_000);
  setState(run.id, "running");
  await vi.advanceTimersByTimeAsync(300);
  setState(run.id, "awaiting_input");
  await vi.advanceTimersByTimeAsync(9_000);
  setState(run.id, "running");
  end.with(RESULT);
  await run.ended;
  vi.useRealTimers();
  expect(run.took, "the duration should only include the run").toBe(400);
});
