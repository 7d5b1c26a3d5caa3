// A rule that allows calls like the one of a consent request, to be edited by the user.
import type {
  ArgumentRule,
  ConsentRequest,
  ConsentRequestBody,
  JsonValue,
  Rule,
  StricterReason,
} from "$lib/api/generated";

import { suggestedMatcher } from "./matchers";

/** A consent request for a tool call. */
export type ToolRequest = ConsentRequest & {
  body: Extract<ConsentRequestBody, { kind: "tool" }>;
};

/** The reason why no rule can allow a call. */
export type RuleBlocker = StricterReason | "unreviewed" | "name";

/** Maximum number of conditions of a rule. */
export const MAX_CONDITIONS = 20;
/** Maximum length of a pattern, in bytes. */
const MAX_PATTERN = 1024;
/** Maximum number of nested objects whose members get conditions. */
const MAX_DEPTH = 4;

/** Returns the reason why no rule can allow this call, or `null` if one can. */
export function ruleBlocker(request: ToolRequest): RuleBlocker | null {
  const { server, body, marks, stricterReason } = request;
  if (body.claims.asksEachTime || stricterReason === "each_time") return "each_time";
  if (marks.review !== "reviewed") return "unreviewed";
  if (stricterReason !== undefined) return stricterReason;
  // The editor removes spaces at both ends of a name.
  return [server, body.tool].some((name) => name.trim() !== name || name === "") ? "name" : null;
}

/** A rule with conditions for the arguments of a call, and the pointers of the arguments without a condition. */
export interface PrefilledRule {
  rule: Rule;
  /** Arguments whose values can't be compared. */
  incomparable: string[];
  /** Arguments beyond the maximum number of conditions. */
  overLimit: string[];
  /** Arguments in the tool's schema that the call does not have. */
  unused: string[];
}

/** Returns `true` if untrusted content may have caused the call: the model has read some, or other hosts can influence the app. */
export function followsUntrustedContent({ origin, reason }: ConsentRequest): boolean {
  const hasRead =
    origin.by === "model" &&
    (origin.untrustedServers.length > 0 || (origin.sameServerReadings ?? []).length > 0);
  const isInfluenced = origin.by === "app" && origin.reachesOtherHosts;
  return hasRead || isInfluenced || reason === "after-untrusted";
}

/** Returns a new rule that allows this call and calls with similar arguments. */
export function ruleFromRequest({ server, body }: ToolRequest): PrefilledRule {
  const found: ArgumentRule[] = [];
  const incomparable: string[] = [];
  const overLimit: string[] = [];
  addConditions("", body.arguments, 0);

  function addConditions(at: string, value: JsonValue, depth: number) {
    if (isObject(value) && depth < MAX_DEPTH && (at === "" || Object.keys(value).length > 0)) {
      for (const [name, member] of Object.entries(value))
        addConditions(`${at}/${escapePointer(name)}`, member, depth + 1);
      return;
    }
    const condition = at === "" ? null : conditionFor(at, value, body.inputSchema);
    if (!condition) incomparable.push(at);
    else if (found.length < MAX_CONDITIONS) found.push(condition);
    else overLimit.push(at);
  }

  const rule: Rule = {
    ...{ id: "", source: "user", effect: "allow" },
    ...{ server: escapeGlob(server), tool: escapeGlob(body.tool), direction: "to_server" },
    ...{ arguments: found, annotations: null, scope: { kind: "always" }, expiresAt: null },
    ...{ note: "", trustedServer: false, identity: null, afterUntrusted: false },
  };
  return { rule, incomparable, overLimit, unused: unusedArguments(body) };
}

/** Returns the arguments in the schema of a tool that a call does not have. */
function unusedArguments({ inputSchema, arguments: given }: ToolRequest["body"]): string[] {
  const properties = isObject(inputSchema) ? (inputSchema.properties ?? null) : null;
  if (!isObject(properties) || !isObject(given)) return [];
  return Object.keys(properties)
    .filter((name) => !Object.hasOwn(given, name))
    .map((name) => `/${escapePointer(name)}`);
}

/** Returns the condition that a value fulfills, or `null` if there is none for its kind or length. */
function conditionFor(at: string, value: JsonValue, schema: JsonValue): ArgumentRule | null {
  switch (typeof value) {
    case "string": {
      const folder = folderFor(at, value, schema);
      if (folder !== null) return conditionWithinLimit({ at, test: "path", pattern: folder });
      return conditionWithinLimit({ at, test: "glob", pattern: escapeGlob(value) });
    }
    case "number":
      return { at, test: "number", pattern: String(value) };
    case "boolean":
      return { at, test: "glob", pattern: String(value) };
    default:
      return Array.isArray(value) ? listCondition(at, value, schema) : null;
  }
}

/** Returns the condition that all items of a list have in common. */
function listCondition(
  at: string,
  [first, ...rest]: JsonValue[],
  schema: JsonValue,
): ArgumentRule | null {
  if (first === undefined || typeof first === "object") return null;
  const condition = conditionFor(at, first, schema);
  const isSame = (item: JsonValue) =>
    typeof item === typeof first &&
    JSON.stringify(conditionFor(at, item, schema)) === JSON.stringify(condition);
  return rest.every(isSame) ? condition : null;
}

function conditionWithinLimit(condition: ArgumentRule): ArgumentRule | null {
  return new TextEncoder().encode(condition.pattern).length <= MAX_PATTERN ? condition : null;
}

const FOLDER_NAME = /(^|[^a-z])(dir|directory|folder|cwd|root)s?$/;
const DRIVE = /^[a-z]:[\\/]/i;

/** Returns the folder of an absolute path, or `null` if the value is no path or its folder is the root. */
function folderFor(at: string, value: string, schema: JsonValue): string | null {
  const isDrive = DRIVE.test(value);
  // A name or format that says "path" is certain. A text with spaces may be anything.
  const isNamed = suggestedMatcher({ at, test: "glob", pattern: "" }, schema) === "path";
  if (!(isDrive || value.startsWith("/")) || !(isNamed || !/\s/.test(value))) return null;
  const separator = isDrive ? /[\\/]/ : /\//;
  const parts = value.split(separator).filter((part) => part !== "" && part !== ".");
  // Such characters have a meaning in a pattern.
  if (parts.includes("..") || /[*?\0]/.test(value) || (!isDrive && value.includes("\\")))
    return null;
  const name = (at.split("/").at(-1) ?? "").replace(/([a-z])([A-Z])/g, "$1_$2").toLowerCase();
  const isFolder = FOLDER_NAME.test(name) || separator.test(value.at(-1) ?? "");
  const folder = isFolder ? parts : parts.slice(0, -1);
  if (folder.length <= (isDrive ? 1 : 0)) return null;
  return isDrive ? folder.join("\\") : `/${folder.join("/")}`;
}

/** Returns the pattern that matches exactly this text. */
function escapeGlob(text: string): string {
  return text.replace(/[*?\\]/g, "\\$&");
}

/** Escapes a name for a JSON Pointer (RFC 6901, section 3). */
function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function isObject(value: JsonValue): value is Record<string, JsonValue> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
