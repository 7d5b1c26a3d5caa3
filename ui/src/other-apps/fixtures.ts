// Fixtures for servers of other apps.
import type {
  ImportApp,
  ImportCandidate,
  ImportCandidates,
  ImportNote,
  ImportNoteKind,
} from "$lib/api/generated";

export const CURSOR_SETTINGS_PATH = "/home/ann/.cursor/mcp.json";

export function candidate(name: string, changes: Partial<ImportCandidate> = {}): ImportCandidate {
  return {
    ...{
      id: `id of ${name}`,
      name,
      origins: [{ app: "cursor", file: CURSOR_SETTINGS_PATH, name }],
    },
    ...{ transport: "stdio", target: `npx -y ${name}`, env: [], headers: [], status: "new" },
    ...{ placeholders: [], folder: null, sandbox: null, signIn: null },
    ...{ isDisabled: false, tools: null, notes: [] },
    ...changes,
  };
}

export function importNote(kind: ImportNoteKind, text: string, ...names: string[]): ImportNote {
  return { kind, place: null, text, names };
}

export function cursorApp(...servers: ImportCandidate[]): ImportApp {
  const files = [{ path: CURSOR_SETTINGS_PATH, servers: servers.length }];
  return { id: "cursor", name: "Cursor", files, servers };
}

export function importCandidates(
  apps: ImportApp[],
  changes: Partial<ImportCandidates> = {},
): ImportCandidates {
  return {
    searchedApps: ["Claude Desktop", "Cursor", "Zed"],
    apps,
    needsWorkspace: false,
    problems: [],
    ...changes,
  };
}
