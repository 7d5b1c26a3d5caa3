// Validation of a server draft.
import { authProblems, type AuthProblem } from "./draft-auth";
import type { ServerDraft } from "./draft.svelte";

export type DraftProblem =
  | AuthProblem
  | "name_missing"
  | "name_taken"
  | "command_missing"
  | "env_name"
  | "env_twice"
  | "env_value"
  | "sandbox_path"
  | "sandbox_no_host"
  | "sandbox_host"
  | "tools_enabled_long"
  | "tools_disabled_long"
  | "url_missing"
  | "url_bad"
  | "header_name"
  | "header_twice"
  | "header_value";

/** Matches a valid HTTP header name (RFC 9110, section 5.6.2). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/**
 * Returns the problems that prevent saving. `taken` has the names of the other servers, and `url` is the address to
 * check.
 */
export function draftProblems(
  draft: ServerDraft,
  taken: string[],
  url = draft.url,
): DraftProblem[] {
  const found: DraftProblem[] = [];
  const name = draft.name.trim();
  if (name === "") found.push("name_missing");
  else if (taken.includes(name)) found.push("name_taken");
  found.push(...(draft.type === "http" ? remoteProblems(draft, url.trim()) : localProblems(draft)));
  if (draft.tools.isEnabledTooLong) found.push("tools_enabled_long");
  if (draft.tools.isDisabledTooLong) found.push("tools_disabled_long");
  return [...new Set(found)];
}

function localProblems(draft: ServerDraft): DraftProblem[] {
  const found: DraftProblem[] = [];
  if (draft.command.trim() === "") found.push("command_missing");
  const keys = draft.env.map((row) => row.name.trim());
  const used = keys.filter((key) => key !== "");
  if (used.some((key) => /[=\s\0]/.test(key))) found.push("env_name");
  if (draft.env.some((row) => row.name.trim() === "" && row.value !== "")) found.push("env_name");
  if (new Set(used).size < used.length) found.push("env_twice");
  if (draft.env.some((row) => row.secret && row.value === "" && row.stored === null))
    found.push("env_value");
  if (draft.sandbox.hasPartialPath) found.push("sandbox_path");
  if (draft.sandbox.hasNoHost) found.push("sandbox_no_host");
  if (draft.sandbox.hasBadHost) found.push("sandbox_host");
  return found;
}

function remoteProblems(draft: ServerDraft, url: string): DraftProblem[] {
  const found: DraftProblem[] = [];
  if (url === "") found.push("url_missing");
  else if (!/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url)) found.push("url_bad");
  const rows = draft.headers.filter((row) => row.name.trim() !== "" || row.value !== "");
  const names = rows.map((row) => row.name.trim().toLowerCase());
  if (names.some((name) => !TOKEN.test(name))) found.push("header_name");
  if (new Set(names).size < names.length) found.push("header_twice");
  if (rows.some((row) => row.value === "" && !row.stored)) found.push("header_value");
  found.push(...authProblems(draft.auth));
  return found;
}
