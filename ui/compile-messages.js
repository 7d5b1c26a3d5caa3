// Compiles the messages, which takes seconds, unless the last run had the same messages and compiler and its output is
// unchanged.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execPath } from "node:process";

const OUTPUT = "src/paraglide";
const INPUTS = [
  "compile-messages.js",
  "package-lock.json",
  "project.inlang/settings.json",
  "messages",
];
const STAMP = "node_modules/.compiled-messages";

/** Returns the hash of the inputs and the output. */
function digest() {
  const hash = createHash("sha256");
  for (const path of [...INPUTS, OUTPUT].flatMap(filesOf)) {
    const content = readFileSync(path);
    hash.update(`${path}\n${content.length}\n`).update(content);
  }
  return hash.digest("hex");
}

function filesOf(path) {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesOf(join(path, name)));
}

if (!existsSync(STAMP) || readFileSync(STAMP, "utf8") !== digest()) {
  const compiler = "node_modules/@inlang/paraglide-js/bin/run.js";
  const options = ["--project", "./project.inlang", "--outdir", `./${OUTPUT}`];
  options.push("--strategy", "baseLocale", "--output-structure", "locale-modules");
  options.push("--no-emit-readme", "--silent");
  execFileSync(execPath, [compiler, "compile", ...options], { stdio: "inherit" });
  writeFileSync(STAMP, digest());
}
