// Views and their encoding in the hash of the location.

export const SERVER_TABS = [
  "overview",
  "tools",
  "prompts",
  "resources",
  "skills",
  "roots",
  "permissions",
  "limits",
  "sign-in",
  "activity",
  "settings",
] as const;
export type ServerTab = (typeof SERVER_TABS)[number];

export type View =
  | { at: "welcome" }
  | { at: "conversation"; id: string; item?: string }
  | { at: "server"; name: string; tab: ServerTab; item?: string }
  | { at: "add-server" }
  | { at: "import"; project?: string }
  /** List of the registry's servers, or the page of one of them. */
  | { at: "registry"; name?: string }
  /** User guide, or one of its pages. */
  | { at: "guide"; page?: string }
  | { at: "settings" }
  | { at: "audit" }
  | { at: "rules" }
  /** Model providers. If `provider` is set, its card is focused. */
  | { at: "models"; provider?: string }
  | { at: "tools" };

const VIEWS_WITHOUT_PARAMETERS = [
  "welcome",
  "add-server",
  "settings",
  "audit",
  "rules",
  "tools",
] as const;

export function viewToHash(view: View): string {
  const parts: string[] = [view.at];
  if (view.at === "conversation") {
    parts.push(view.id);
    if (view.item !== undefined) parts.push(view.item);
  }
  if (view.at === "server") {
    parts.push(view.name, view.tab);
    if (view.item !== undefined) parts.push(view.item);
  }
  if (view.at === "import" && view.project !== undefined) parts.push(view.project);
  if (view.at === "registry" && view.name !== undefined) parts.push(view.name);
  if (view.at === "guide" && view.page !== undefined) parts.push(view.page);
  if (view.at === "models" && view.provider !== undefined) parts.push(view.provider);
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

/** Parses the hash of the location. Unknown hashes yield the welcome view. */
export function viewFromHash(hash: string): View {
  const [at, first, second, third] = hash.replace(/^#\/?/, "").split("/").map(decodedPart);
  if (at === "conversation" && first)
    return second ? { at, id: first, item: second } : { at, id: first };
  if (at === "import") return first ? { at, project: first } : { at };
  if (at === "registry") return first ? { at, name: first } : { at };
  if (at === "guide") return first ? { at, page: first } : { at };
  if (at === "models") return first ? { at, provider: first } : { at };
  if (at === "server" && first) {
    const tab = SERVER_TABS.find((tab) => tab === second) ?? "overview";
    return third === undefined ? { at, name: first, tab } : { at, name: first, tab, item: third };
  }
  return { at: VIEWS_WITHOUT_PARAMETERS.find((plain) => plain === at) ?? "welcome" };
}

function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
