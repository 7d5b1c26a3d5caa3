// Fixtures for servers of other apps.
import type {
  ImportApp,
  ImportCandidate,
  ImportCandidates,
  ImportNote,
  ImportNoteKind,
} from "$lib/api/generated";

export const CURSOR = "/home/ann/.cursor/mcp.json";

export function candidate(name: string, changes: Partial<ImportCandidate> = {}): ImportCandidate {
  return {
    ...{ id: `id of ${name}`, name, origins: [{ app: "cursor", file: CURSOR, name }] },
    ...{ transport: "stdio", target: `npx -y ${name}`, env: [], headers: [], status: "new" },
    ...{ placeholders: [], folder: null, sandbox: null, signIn: null },
    ...{ off: false, tools: null, notes: [] },
    ...changes,
  };
}

export function note(kind: ImportNoteKind, text: string, ...names: string[]): ImportNote {
  return { kind, text, names };
}

export function cursor(...servers: ImportCandidate[]): ImportApp {
  const files = [{ path: CURSOR, servers: servers.length }];
  return { id: "cursor", name: "Cursor", files, servers };
}

export function found(
  apps: ImportApp[],
  changes: Partial<ImportCandidates> = {},
): ImportCandidates {
  return { lookedFor: ["Claude Desktop", "Cursor", "Zed"], apps, problems: [], ...changes };
}
