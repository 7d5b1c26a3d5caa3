// Compiles the messages before the tests, in a process of its own: inside the tests' own it would keep that from ending.
import { execFileSync } from "node:child_process";

export default function compileMessages(): void {
  execFileSync("npm", ["run", "--silent", "messages"], {
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
  });
}
