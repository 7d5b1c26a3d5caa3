// What a registry or a bundle says, in the page's words.
import type { InputProblem, PlanInput, RegistryPublisher } from "$lib/api/generated";
import { beginning, visibleText } from "$lib/format/text-safety";

import type { OpeningRefusal } from "$lib/platform";

import { m } from "../paraglide/messages";

/** The most characters of a publisher's label. */
const LABEL = 80;

/** A name or label of somebody else as one short line. */
export function shortText(text: string, characters = LABEL): string {
  const first = beginning(text, characters, 1);
  return visibleText(first) + (first.length < text.length ? "…" : "");
}

/** What to call an input: its label, or its key where it has none. */
export function labelOf(input: PlanInput): string {
  return shortText(input.label.trim() === "" ? input.key : input.label);
}

/** Why a value is not accepted. */
export function inputProblem(problem: InputProblem): string {
  return {
    missing: m.installs_problem_missing,
    too_many: m.installs_problem_too_many,
    not_text: m.installs_problem_not_text,
    not_a_choice: m.installs_problem_not_a_choice,
    not_a_number: m.installs_problem_not_a_number,
    out_of_range: m.installs_problem_out_of_range,
    not_a_boolean: m.installs_problem_not_a_boolean,
    not_a_path: m.installs_problem_not_a_path,
  }[problem]();
}

/** Why something is not opened. */
export function refusalText(why: OpeningRefusal): string {
  return {
    not_found: m.installs_refused_not_found,
    not_a_file: m.installs_refused_not_a_file,
    not_a_bundle: m.installs_refused_not_a_bundle,
    not_unicode: m.installs_refused_not_unicode,
    not_an_install_link: m.installs_refused_not_an_install_link,
    link_too_long: m.installs_refused_link_too_long,
    links_off: m.installs_refused_links_off,
  }[why]();
}

/** Who may publish under a server's name, and whether the registry sees to it. */
export function publisherText(
  { kind, name, checked }: RegistryPublisher,
  registry: string,
): string {
  const whom = { name: shortText(name, 200) };
  const who =
    kind === "github_account"
      ? m.installs_publisher_github(whom)
      : m.installs_publisher_domain(whom);
  return checked
    ? who
    : m.installs_publisher_unchecked({ who, registry: shortText(registry, 200) });
}

/** What kind of package or remote it is. A kind of a later version is shown as it is. */
export function choiceKind({ kind }: { kind: string }): string {
  const known: Record<string, string> = {
    ...{ npm: "npm", pypi: "PyPI", nuget: "NuGet", oci: "OCI" },
    ...{ mcpb: "MCPB", "streamable-http": "Streamable HTTP", sse: "HTTP+SSE" },
  };
  return (Object.hasOwn(known, kind) ? known[kind] : undefined) ?? shortText(kind, 40);
}
