// Compiles the messages before the tests in a child process. Inside the process of the tests, the compiler would
// prevent its exit.
import { execFileSync } from "node:child_process";

export default function compileMessages(): void {
  execFileSync("npm", ["run", "--silent", "messages"], {
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
  });
}
