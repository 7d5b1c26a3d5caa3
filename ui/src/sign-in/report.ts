// Text of a sign-in for a bug report: all steps in order, without secrets. Always in English, for its readers.
import type { Authorization, SignInStep } from "$lib/api/generated";
import { visibleText } from "$lib/format/text-safety";

/** Text that replaces each secret. */
export const REDACTED = "[redacted]";

/**
 * Returns the text of the report. `address` is the URL of the server, of which the parts that may contain keys are
 * removed. `version` is that of Drawbridge.
 */
export function signInReport(
  authorization: Authorization,
  address: string,
  version: string,
): string {
  const head = [
    `Sign-in to ${visibleText(withoutKeys(address))} with Drawbridge ${version}`,
    outcomeText(authorization),
    `Secrets read ${REDACTED}.`,
  ];
  return [head.join("\n"), ...authorization.steps.map(stepText)].join("\n\n") + "\n";
}

/** Returns a URL without query, fragment and user info, which may contain keys. */
function withoutKeys(address: string): string {
  if (!URL.canParse(address)) return REDACTED;
  const { origin, pathname } = new URL(address);
  return origin + pathname;
}

function outcomeText({ account, failure, failureMessage }: Authorization): string {
  if (failure === "declined") return "It was declined.";
  if (failureMessage !== null) return `It failed: ${visibleText(failureMessage)}`;
  return account === null ? "It was not finished." : `Signed in at ${visibleText(account.issuer)}.`;
}

function stepText(step: SignInStep, index: number): string {
  const when = new Date(step.at).toISOString();
  const lines = [
    `## ${index + 1}. ${visibleText(step.purpose)} (${when}, ${step.durationMilliseconds} ms)`,
  ];
  if (step.request !== null) lines.push(quotedLines(">", step.request));
  if (step.response !== null) lines.push(quotedLines("<", step.response));
  lines.push(`${step.failed ? "FAILED" : "="} ${visibleText(step.conclusion)}`);
  return lines.join("\n");
}

function quotedLines(mark: string, text: string): string {
  return visibleText(text)
    .trimEnd()
    .split("\n")
    .map((line) => `${mark} ${line}`.trimEnd())
    .join("\n");
}
