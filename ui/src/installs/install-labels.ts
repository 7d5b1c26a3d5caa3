// Labels of registry listings, bundles and inputs.
import type { InputProblem, PlanInput, RegistryPublisher } from "$lib/api/generated";
import { textBeginning, visibleText } from "$lib/format/text-safety";

import type { OpeningRefusal } from "$lib/platform";

import { m } from "../paraglide/messages";

/** Maximum number of characters of a publisher's label. */
const LABEL = 80;

/** Shortens a name or label from outside of the app to one line. */
export function shortenToLine(text: string, characters = LABEL): string {
  const first = textBeginning(text, characters, 1);
  return visibleText(first) + (first.length < text.length ? "…" : "");
}

/** Returns the label of an input, or its key if it has none. */
export function inputLabel(input: PlanInput): string {
  return shortenToLine(input.label.trim() === "" ? input.key : input.label);
}

/** Returns the translated reason why a value of an input is not accepted. */
export function inputProblemText(problem: InputProblem): string {
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

/** Returns the translated reason why the publisher's default of an input is not used, as the end of a sentence. */
export function defaultProblemText(problem: InputProblem): string {
  return {
    missing: m.installs_default_missing,
    too_many: m.installs_default_too_many,
    not_text: m.installs_default_not_text,
    not_a_choice: m.installs_default_not_a_choice,
    not_a_number: m.installs_default_not_a_number,
    out_of_range: m.installs_default_out_of_range,
    not_a_boolean: m.installs_default_not_a_boolean,
    not_a_path: m.installs_default_not_a_path,
  }[problem]();
}

/** Returns the translated reason why a bundle or link was not opened. */
export function refusalText(reason: OpeningRefusal): string {
  return {
    not_found: m.installs_refused_not_found,
    not_a_file: m.installs_refused_not_a_file,
    not_a_bundle: m.installs_refused_not_a_bundle,
    not_unicode: m.installs_refused_not_unicode,
    not_an_install_link: m.installs_refused_not_an_install_link,
    link_too_long: m.installs_refused_link_too_long,
    links_off: m.installs_refused_links_off,
  }[reason]();
}

/** Returns a text that names the publisher of a server and states if the registry has verified the name. */
export function publisherText(
  { kind, name, checked }: RegistryPublisher,
  registry: string,
): string {
  const publisher = { name: shortenToLine(name, 200) };
  const label =
    kind === "github_account"
      ? m.installs_publisher_github(publisher)
      : m.installs_publisher_domain(publisher);
  return checked
    ? label
    : m.installs_publisher_unchecked({ who: label, registry: shortenToLine(registry, 200) });
}

/** Returns the kind of a package or remote. Unknown kinds are shown unchanged. */
export function choiceKindLabel({ kind }: { kind: string }): string {
  const known: Record<string, string> = {
    ...{ npm: "npm", pypi: "PyPI", nuget: "NuGet", oci: "OCI" },
    ...{ mcpb: "MCPB", "streamable-http": "Streamable HTTP", sse: "HTTP+SSE" },
  };
  return (Object.hasOwn(known, kind) ? known[kind] : undefined) ?? shortenToLine(kind, 40);
}
