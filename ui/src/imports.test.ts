// Modules must not import each other in cycles. A lazily loaded view may import the module that loads it.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

import ts from "typescript";
import { expect, test } from "vitest";

const files = new Set(
  readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(ts|svelte)$/.test(file) && !file.startsWith("paraglide"))
    .map((file) => file.replaceAll("\\", "/")),
);

/** Returns the path of an imported file, or `undefined` if the import is not a file of the page. */
function target(from: string, name: string): string | undefined {
  if (!/^(\.|\$lib\/)/.test(name)) return undefined;
  const path = name.startsWith("$lib/")
    ? name.replace("$", "")
    : normalize(join(dirname(from), name)).replaceAll("\\", "/");
  return [path, `${path}.ts`, `${path}/index.ts`].find((file) => files.has(file));
}

function imports(file: string): string[] {
  const text = readFileSync(join("src", file), "utf8");
  const scripts = file.endsWith(".svelte")
    ? [...text.matchAll(/<script[^>]*>(.*?)<\/script>/gs)].map(([, script]) => script).join("\n")
    : text;
  const { statements } = ts.createSourceFile(file, scripts, ts.ScriptTarget.Latest);
  return statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
    const from = statement.moduleSpecifier;
    const found = from && ts.isStringLiteral(from) ? target(file, from.text) : undefined;
    // A component may render itself.
    return found === undefined || found === file ? [] : [found];
  });
}

/** Returns the files of the first import cycle, or an empty array if there is none. */
function circle(graph: Map<string, string[]>): string[] {
  const done = new Set<string>();
  function walk(file: string, path: string[]): string[] {
    const at = path.indexOf(file);
    if (at >= 0) return [...path.slice(at), file];
    if (done.has(file)) return [];
    for (const next of graph.get(file) ?? []) {
      const found = walk(next, [...path, file]);
      if (found.length > 0) return found;
    }
    done.add(file);
    return [];
  }
  for (const file of graph.keys()) {
    const found = walk(file, []);
    if (found.length > 0) return found;
  }
  return [];
}

test("has no import cycles", () => {
  const graph = new Map([...files].map((file) => [file, imports(file)]));
  expect([...graph.values()].flat().length, "imports should be found").toBeGreaterThan(files.size);
  expect(circle(graph)).toEqual([]);
});

test("finds a cycle", () => {
  const graph = new Map([
    ["a", ["b"]],
    ["b", ["c", "d"]],
    ["c", []],
    ["d", ["b"]],
  ]);
  expect(circle(graph)).toEqual(["b", "d", "b"]);
});
