// Temporary folders that are removed when the process exits, unless they were removed before.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders = new Set<string>();
// A test may be interrupted, or its host may not start or not end.
process.once("exit", () => folders.forEach(removeFolder));

export function temporaryFolder(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  folders.add(folder);
  return folder;
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  folders.delete(folder);
}
