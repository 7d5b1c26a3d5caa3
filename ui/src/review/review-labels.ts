// Labels of review marks.

import type { FlagReason, LookAlike, ReviewMarks, Reading, Server } from "$lib/api/generated";
import { codePoint, textBeginning, visibleText } from "$lib/format/text-safety";

import { m } from "../paraglide/messages";

/** Maximum number of letters that are named by code point. */
const MAX_NAMED_LETTERS = 3;

/** Shortens a name from a server to 80 characters, with hidden characters made visible. */
function shortName(text: string): string {
  const short = textBeginning(text, 80, 1);
  return visibleText(short) + (short.length < text.length ? "…" : "");
}

/** Returns a label for content that a model has read, with its kind and name. */
export function readContentLabel({ kind, name }: Reading): string {
  const words: Record<Reading["kind"], () => string> = {
    tool: () => m.review_read_tool({ name: shortName(name) }),
    prompt: () => m.review_read_prompt({ name: shortName(name) }),
    resource: () => m.review_read_resource({ name: shortName(name) }),
    unknown: m.review_read_unknown,
  };
  return words[kind]();
}

/** Joins names to a list with the separators of the page's language. */
export function joinNames(names: string[]): string {
  return names.map(shortName).join(", ");
}

/**
 * Returns the path to a text within a definition, with ` › ` between its names. Empty for the definition as a whole.
 */
export function definitionPlaceLabel(place: string[]): string {
  return place.length === 0 ? "" : place.map(visibleText).join(" › ");
}

export function flagLabel(reason: FlagReason): string {
  const words: Record<FlagReason, () => string> = {
    hidden_characters: m.review_flag_hidden_characters,
    instructs_model: m.review_flag_instructs_model,
    hides_from_user: m.review_flag_hides_from_user,
    secret_place: m.review_flag_secret_place,
    other_tool: m.review_flag_other_tool,
    asks_for_context: m.review_flag_asks_for_context,
    praises_itself: m.review_flag_praises_itself,
    deceptive_letters: m.review_flag_deceptive_letters,
    misleading_link: m.review_flag_misleading_link,
    too_long: m.review_flag_too_long,
  };
  return words[reason]();
}

export function lookAlikeLabel(alikes: LookAlike[]): string[] {
  const sameName = [
    ...new Set(alikes.filter((alike) => alike.isIdentical).map((alike) => alike.server)),
  ];
  const similarName = alikes.filter((alike) => !alike.isIdentical);
  const words = similarName.map(({ server, name }) =>
    m.review_looks_like({ server: shortName(server), name: nameWithCodePoints(name) }),
  );
  const first = m.review_same_name({ server: sameName.map(shortName).join(", ") });
  return [...new Set(sameName.length === 0 ? words : [first, ...words])];
}

/** Returns the code points of the letters outside of ASCII in parentheses, or an empty text if there are none. */
function codePointSuffix(text: string): string {
  const letters = [...new Set(text)].filter((c) => c > "\u007f").slice(0, MAX_NAMED_LETTERS);
  return letters.length === 0 ? "" : ` (${letters.map(codePoint).join(" ")})`;
}

/** Returns a name with the code points of the letters that may be confused. */
function nameWithCodePoints(name: string): string {
  return shortName(name) + codePointSuffix(name);
}

/** Returns a text with the code points of letters that are in one word with ASCII letters. */
export function withDeceptiveLetters(text: string): string {
  const words = text.match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];
  return text + codePointSuffix(words.filter((word) => /[a-z]/i.test(word)).join(""));
}

/** Returns a sentence for each server whose name is similar to the name that a server claims. */
export function serverLookAlikeLabel(alikes: LookAlike[]): string[] {
  return alikes.map(({ server, name, isIdentical }) =>
    isIdentical
      ? m.review_server_same_name({ server: shortName(server) })
      : m.review_server_looks_like({ server: shortName(server), name: nameWithCodePoints(name) }),
  );
}

/** Labels of the authorization settings that determine where credentials are sent, by their keys in the settings. */
const AUTH_PARTS: Record<string, () => string> = {
  grant: m.consent_auth_grant,
  clientId: m.consent_auth_client_id,
  clientAuth: m.consent_auth_client_auth,
  clientSecret: m.consent_auth_client_secret,
  privateKey: m.consent_auth_private_key,
  algorithm: m.consent_auth_algorithm,
  clientMetadataUrl: m.consent_auth_client_metadata_url,
  redirectPort: m.consent_auth_redirect_port,
  scopes: m.consent_auth_scopes,
  dpop: m.consent_auth_dpop,
  assertion: m.consent_auth_assertion,
  "identityProvider.issuer": m.consent_auth_provider_issuer,
  "identityProvider.tokenEndpoint": m.consent_auth_provider_token_endpoint,
  "identityProvider.clientId": m.consent_auth_provider_client_id,
  "identityProvider.clientAuth": m.consent_auth_provider_client_auth,
  "identityProvider.clientSecret": m.consent_auth_provider_client_secret,
  "identityProvider.privateKey": m.consent_auth_provider_private_key,
  "identityProvider.algorithm": m.consent_auth_provider_algorithm,
  "identityProvider.idToken": m.consent_auth_provider_id_token,
  "endpoint.token": m.consent_endpoint_token,
  "endpoint.provider": m.consent_endpoint_provider,
  "endpoint.registration": m.consent_endpoint_registration,
  "endpoint.revocation": m.consent_endpoint_revocation,
};

/** Returns the label of a part of a server's identity. Unknown parts are returned unchanged. */
export function identityPartLabel(part: string): string {
  const words: Record<string, () => string> = {
    command: m.review_part_command,
    program: m.review_part_program,
    file: m.review_part_file,
    arguments: m.review_part_arguments,
    variables: m.review_part_variables,
    folder: m.review_part_folder,
    package: m.review_part_package,
    url: m.review_part_url,
    headers: m.review_part_headers,
    transport: m.review_part_transport,
    sandbox: m.review_part_sandbox,
    scripts: m.review_part_scripts,
    issuer: m.review_pinned_issuer,
    ...AUTH_PARTS,
  };
  return (Object.hasOwn(words, part) ? words[part]?.() : undefined) ?? shortName(part);
}

/** Review marks of a definition without findings. */
export const NO_REVIEW_MARKS: ReviewMarks = {
  ...{ review: null, outdated: false, diff: null },
  ...{ lookAlikes: [], flags: [] },
};

/** Returns `true` if the review of a server's claims about itself, such as its name, found a problem. */
export function hasMarkedClaims(server: Server): boolean {
  return server.marks.flags.length > 0 || server.marks.lookAlikes.length > 0;
}
