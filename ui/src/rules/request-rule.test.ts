import { describe, expect, it } from "vitest";

import type { ArgumentRule } from "$lib/api/generated";

import { consentRequest, toolBody } from "../consent/fixtures";
import { NO_REVIEW_MARKS } from "../review/review-labels";
import { ruleBlocker, ruleFromRequest, type ToolRequest } from "./request-rule";

function request(args: Record<string, unknown>, changes: Partial<ToolRequest> = {}): ToolRequest {
  const marks = { ...NO_REVIEW_MARKS, review: "reviewed" as const };
  return { ...consentRequest(toolBody(args), { marks }), ...changes } as ToolRequest;
}

const conditions = (args: Record<string, unknown>) => ruleFromRequest(request(args)).rule.arguments;
const glob = (at: string, pattern: string): ArgumentRule => ({ at, test: "glob", pattern });
const path = (at: string, pattern: string): ArgumentRule => ({ at, test: "path", pattern });

describe("a rule from a request", () => {
  it("allows exactly this tool of this server, permanently and not after untrusted content", () => {
    const body = { ...request({}).body, tool: "write?file" };
    const { rule } = ruleFromRequest(request({}, { server: "files*", body }));
    expect(rule).toEqual({
      ...{ id: "", source: "user", effect: "allow", direction: "to_server" },
      ...{ server: "files\\*", tool: "write\\?file", arguments: [], annotations: null },
      ...{ scope: { kind: "always" }, expiresAt: null, note: "", trustedServer: false },
      ...{ identity: null, afterUntrusted: false },
    });
  });

  it("limits a path to its folder", () => {
    expect(conditions({ path: "/home/ann/trip/plan 1.md" })).toEqual([
      path("/path", "/home/ann/trip"),
    ]);
    expect(
      conditions({ where: "/srv/data/x" }),
      "the value should be recognized as a path",
    ).toEqual([path("/where", "/srv/data")]);
    expect(conditions({ path: "C:\\Users\\ann\\a.txt" })).toEqual([
      path("/path", "C:\\Users\\ann"),
    ]);
    expect(conditions({ directory: "/home/ann/trip" }), "a folder should be used itself").toEqual([
      path("/directory", "/home/ann/trip"),
    ]);
    expect(conditions({ path: "/home/ann/trip/" }), "a folder should be used itself").toEqual([
      path("/path", "/home/ann/trip"),
    ]);
  });

  it("compares values exactly that are no plain path below a folder", () => {
    for (const value of ["/etc", "/", "/a/../b", "notes/plan.md", "~/plan.md", "C:\\a.txt"])
      expect(conditions({ path: value }), value).toEqual([
        glob("/path", value.replaceAll("\\", "\\\\")),
      ]);
    expect(conditions({ path: "/a/b*/c" }), "a wildcard should not be part of a folder").toEqual([
      glob("/path", "/a/b\\*/c"),
    ]);
    expect(
      conditions({ text: "/help me now" }),
      "a text that begins with a slash should be compared exactly",
    ).toEqual([glob("/text", "/help me now")]);
  });

  it("compares other values exactly", () => {
    expect(
      conditions({ to: "ann?", count: 3, ratio: -0.5, force: true, "a/b~c": "", at: { x: 1 } }),
    ).toEqual([
      glob("/to", "ann\\?"),
      { at: "/count", test: "number", pattern: "3" },
      { at: "/ratio", test: "number", pattern: "-0.5" },
      glob("/force", "true"),
      glob("/a~1b~0c", ""),
      { at: "/at/x", test: "number", pattern: "1" },
    ]);
    expect(
      conditions({ paths: ["/a/b/c", "/a/b/d"] }),
      "items of one folder should be limited to the folder",
    ).toEqual([path("/paths", "/a/b")]);
  });

  it("names the arguments that get no condition", () => {
    const args = {
      ...{ long: "ü".repeat(513), none: null, empty: {}, paths: ["/a/b/c", "/d/e"] },
      ...{ list: [], objects: [{}], mixed: ["1", 1] },
    };
    const { rule, incomparable, overLimit } = ruleFromRequest(request(args));
    expect(rule.arguments).toEqual([]);
    expect(incomparable).toEqual(Object.keys(args).map((name) => `/${name}`));
    expect(overLimit).toEqual([]);
  });

  it("names the arguments beyond the limit separately", () => {
    const many = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`a${i}`, "x"]));
    const { rule, incomparable, overLimit } = ruleFromRequest(request({ none: null, ...many }));
    expect(rule.arguments, "the number of conditions should be limited to 20").toHaveLength(20);
    expect(overLimit).toEqual(["/a20", "/a21", "/a22", "/a23", "/a24"]);
    expect(incomparable, "other arguments should have another reason").toEqual(["/none"]);
  });

  it("names the arguments of the schema that the call does not have", () => {
    const { body } = request({ path: "/a/b" });
    const inputSchema = { properties: { path: {}, "a/b": {}, mode: {} } };
    const { unused } = ruleFromRequest(request({}, { body: { ...body, inputSchema } }));
    expect(unused).toEqual(["/a~1b", "/mode"]);
    for (const unusable of [null, true, [], { properties: 1 }])
      expect(
        ruleFromRequest(request({}, { body: { ...body, inputSchema: unusable } })).unused,
      ).toEqual([]);
  });
});

describe("a rule can't allow", () => {
  it.each([
    [
      "a tool that was not reviewed",
      { marks: { ...NO_REVIEW_MARKS, review: "new" } },
      "unreviewed",
    ],
    ["a tool that changed", { marks: { ...NO_REVIEW_MARKS, review: "changed" } }, "unreviewed"],
    ["a call that another rule asks for", { stricterReason: "rule" }, "rule"],
    ["a call under the Careful preset", { stricterReason: "preset" }, "preset"],
    ["a call while the rules are unusable", { stricterReason: "unusable" }, "unusable"],
    ["a server whose name ends with a space", { server: "files " }, "name"],
  ] as [string, Partial<ToolRequest>, string][])("%s", (_, changes, blocker) => {
    expect(ruleBlocker(request({}, changes))).toBe(blocker);
  });

  it("a tool that requires consent each time", () => {
    const { body } = request({});
    const claims = { ...body.claims, asksEachTime: true };
    expect(ruleBlocker(request({}, { body: { ...body, claims } }))).toBe("each_time");
    expect(ruleBlocker(request({})), "other tools should be allowed").toBeNull();
  });
});
