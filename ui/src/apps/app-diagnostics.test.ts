import { readFileSync } from "node:fs";

import { beforeEach, describe, expect, test } from "vitest";

import type { AppDiagnostic } from "$lib/api/generated";

import {
  AppDiagnostics,
  MAX_BLOCKED,
  MAX_OUTPUTS,
  MAX_TEXT,
  REPORT_PREFIX,
} from "./app-diagnostics.svelte";

const FETCH = {
  type: "blocked",
  directive: "connect-src",
  address: "https://api.example/",
} as const;
const PICTURE = {
  type: "blocked",
  directive: "img-src",
  address: "https://cdn.example/a.png",
} as const;
const UNCAUGHT = { type: "failed", text: "Line 3: Error: no data" } as const;
const LOGGED = { type: "console", level: "error", text: "no chart" } as const;
const HINT = { type: "console", level: "info", text: "version 2" } as const;

let diagnostics: AppDiagnostics;
beforeEach(() => (diagnostics = new AppDiagnostics()));

test("the beginning of a report is the one that the host recognizes", () => {
  const source = readFileSync("../crates/mcp-apps/src/diagnostics/mod.rs", "utf8");
  expect(source).toContain(`const DIAGNOSTIC_REPORT_PREFIX: &str = r#"${REPORT_PREFIX}"#;`);
});

describe("blocked requests", () => {
  test("are counted by directive and address", () => {
    for (const report of [FETCH, PICTURE, FETCH]) diagnostics.add(report, 0);
    expect(diagnostics.blocked).toEqual([
      { directive: "connect-src", address: "https://api.example/", count: 2 },
      { directive: "img-src", address: "https://cdn.example/a.png", count: 1 },
    ]);
  });

  test("beyond the maximum are only counted", () => {
    for (let index = 0; index < MAX_BLOCKED + 3; index += 1) {
      diagnostics.add({ ...FETCH, address: `https://api.example/${index}` }, 0);
    }
    diagnostics.add({ ...FETCH, address: "https://api.example/0" }, 0);
    expect(diagnostics.blocked.length).toBe(MAX_BLOCKED);
    expect(diagnostics.blocked[0]?.count, "a listed request should still be counted").toBe(2);
    expect(diagnostics.unlisted).toBe(3);
  });
});

describe("output", () => {
  test("has a level, and the oldest is dropped first", () => {
    diagnostics.add(UNCAUGHT, 0);
    for (let index = 0; index < MAX_OUTPUTS; index += 1) diagnostics.add(HINT, 0);
    expect(diagnostics.outputs.length).toBe(MAX_OUTPUTS);
    expect(diagnostics.outputs.at(-1)).toMatchObject({ level: "info", text: "version 2" });
    expect(diagnostics.outputs.at(0)?.number, "the error should be dropped").toBe(2);
    const problem = { is: "error", text: "Line 3: Error: no data" };
    expect(diagnostics.startProblem, "the error should still be known").toEqual(problem);
  });

  test("is truncated", () => {
    diagnostics.add({ ...HINT, text: "x".repeat(MAX_TEXT + 1) }, 0);
    expect(diagnostics.outputs[0]?.text.length).toBe(MAX_TEXT);
  });
});

test("dropped reports are added up", () => {
  diagnostics.add(HINT, 3);
  diagnostics.add(HINT, 4);
  expect(diagnostics.dropped).toBe(7);
});

test.each<[string, AppDiagnostic[], unknown]>([
  ["nothing", [HINT], null],
  ["a logged error", [HINT, LOGGED], { is: "error", text: "no chart" }],
  [
    "a blocked picture before a logged error",
    [LOGGED, PICTURE],
    { is: "blocked", directive: "img-src", address: "https://cdn.example/a.png" },
  ],
  [
    "an uncaught error before a blocked picture",
    [PICTURE, UNCAUGHT],
    { is: "error", text: "Line 3: Error: no data" },
  ],
  [
    "a blocked connection before an uncaught error",
    [UNCAUGHT, PICTURE, FETCH],
    { is: "blocked", directive: "connect-src", address: "https://api.example/" },
  ],
  [
    "missing WebGL before all others",
    [UNCAUGHT, FETCH, { type: "webgl_missing" }],
    { is: "webgl_missing" },
  ],
])("the problem of the start is %s", (_, reports, expected) => {
  for (const report of reports) diagnostics.add(report, 0);
  expect(diagnostics.startProblem).toEqual(expected);
});
