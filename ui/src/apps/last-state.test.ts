import { beforeEach, expect, test } from "vitest";

import type { ConversationItem } from "$lib/api/generated";
import { startFakeHost } from "$lib/testing/fake-host";

import { contextItemsOf } from "../conversation/context-items.svelte";
import { lastHeight, lastState, rememberHeight } from "./last-state";
import { contextName, offerContext } from "./model-context";

const PAGE = "ui://files/chart";

function call(id: string, tool = "chart"): ConversationItem {
  const content = [{ type: "text" as const, text: `result of ${id}` }];
  return {
    ...{ id, at: 1 },
    body: {
      ...{
        kind: "tool_call",
        call: id,
        server: "files",
        tool,
        arguments: {},
        took: 1,
        error: null,
      },
      result: {
        ...{ content, structured: null, structuredProblem: null, isError: false, arguments: {} },
      },
    },
  };
}

function context(id: string, text: string, uri = PAGE, server = "files"): ConversationItem {
  const contents = [{ uri, mimeType: "text/plain", text, blob: null }];
  return {
    ...{ id, at: 1 },
    body: { kind: "attachment", server, uri, name: "Context from the app of chart", contents },
  };
}

const stateOf = (items: ConversationItem[], item: ConversationItem, page: string | null = PAGE) =>
  lastState({ id: "c1", items }, item, page);

beforeEach(async () => {
  await startFakeHost({}, { conversations: [{ id: "c1", title: "Trip", updatedAt: 1 }] });
});

test("is the text of the result if the app gave no context", () => {
  const first = call("t1");
  expect(stateOf([first], first)).toEqual({ is: "result", text: "result of t1" });
});

test("is the last context after the call and before the next one of the tool", () => {
  const [first, second] = [call("t1"), call("t2")];
  const items = [first, context("a1", "old"), context("a2", "new"), second, context("a3", "later")];
  expect(stateOf(items, first)).toEqual({ is: "context", text: "new" });
  expect(stateOf(items, second)).toEqual({ is: "context", text: "later" });
});

test("is not the context of another app or server, or a resource", () => {
  const first = call("t1");
  const items = [
    ...[first, call("t2", "other"), context("a1", "other app", "ui://files/map")],
    ...[context("a2", "other server", PAGE, "mail"), context("a3", "resource", "file:///a")],
  ];
  expect(stateOf(items, first)?.is).toBe("result");
});

test("is the context named for the tool while the page of its stopped server is unknown", () => {
  const first = call("t1");
  const other = context("a1", "other app", "ui://files/map");
  if (other.body.kind === "attachment") other.body.name = contextName("map");
  expect(stateOf([first, other], first, null)?.is).toBe("result");
  const own = context("a2", "own app");
  if (own.body.kind === "attachment") own.body.name = contextName("chart");
  expect(stateOf([first, own, other], first, null)?.text).toBe("own app");
});

test("does not end at a call of an app's tool with the name of the server's tool", () => {
  const [first, ofApp] = [call("t1"), call("t2")];
  if (ofApp.body.kind === "tool_call") ofApp.body.app = "chart";
  expect(stateOf([first, ofApp, context("a1", "later")], first)?.text).toBe("later");
});

test("is not the page that the user attached as a resource", () => {
  const first = call("t1");
  const attached = context("a1", "<!doctype html>");
  if (attached.body.kind === "attachment") attached.body.contents[0]!.mimeType = "text/html";
  expect(stateOf([first, attached], first)?.is).toBe("result");
});

test("is the context that waits in the composer, until it is removed", () => {
  const first = call("t1");
  const subject = { server: "files", tool: "chart", uri: PAGE, conversation: "c1" };
  offerContext(subject, "view", "waiting");
  const items = [first, context("a1", "sent")];
  expect(stateOf(items, first)).toEqual({ is: "context", text: "waiting" });
  for (const { id } of contextItemsOf("c1").all) contextItemsOf("c1").remove(id);
  expect(stateOf(items, first)).toEqual({ is: "context", text: "sent" });
});

test("heights of the least recently changed calls are dropped", () => {
  rememberHeight("t0", 300);
  for (let i = 1; i <= 99; i += 1) rememberHeight(`t${i}`, i);
  rememberHeight("t0", 400);
  rememberHeight("t100", 100);
  expect(lastHeight("t0")).toBe(400);
  expect(lastHeight("t1")).toBeNull();
});
