// Hints and problem texts of a part.

import { textBeginning, visibleText } from "$lib/format/text-safety";

import { m } from "../../paraglide/messages";

import type { PartProblem, ProblemCode } from "./form-value";
import type { JsonEditorReason, Shape } from "./shape";

/** Maximum number of characters of the default value in a label. */
const LONGEST_DEFAULT = 60;

/** Returns the label for an omitted part, with the default value that the server uses. */
export function notSetLabel({ fallback }: Shape): string {
  if (fallback === undefined) return m.tools_left_out();
  const value = visibleText(textBeginning(JSON.stringify(fallback), LONGEST_DEFAULT, 1));
  return m.tools_not_set_default({ value });
}

/** Returns the translated text of a validation problem, with the violated bound. */
export function problemText({ code, bound }: PartProblem): string {
  const count = bound ?? 0;
  const texts: Record<ProblemCode, () => string> = {
    required: m.tools_problem_required,
    too_short: () => m.tools_problem_too_short({ count }),
    too_long: () => m.tools_problem_too_long({ count }),
    too_small: () => m.tools_problem_too_small({ bound: count }),
    too_large: () => m.tools_problem_too_large({ bound: count }),
    too_few: () => m.tools_problem_too_few({ count }),
    too_many: () => m.tools_problem_too_many({ count }),
    not_an_email: m.tools_problem_not_an_email,
    not_a_uri: m.tools_problem_not_a_uri,
    not_a_date: m.tools_problem_not_a_date,
    not_a_date_time: m.tools_problem_not_a_date_time,
    not_a_number: m.tools_problem_not_a_number,
    not_whole: m.tools_problem_not_whole,
    not_exact: m.tools_problem_not_exact,
    not_json: () => m.tools_problem_not_json({ line: count }),
    no_name: m.tools_problem_no_name,
    name_taken: m.tools_problem_name_taken,
  };
  return texts[code]();
}

/** Returns the translated reason why a part can only be edited as JSON. */
export function jsonReasonText(reason: JsonEditorReason): string {
  const texts: Record<JsonEditorReason, () => string> = {
    anything: m.tools_json_anything,
    combined: m.tools_json_combined,
    recursive: m.tools_json_recursive,
    too_deep: m.tools_json_too_deep,
    too_large: m.tools_json_too_large,
    elsewhere: m.tools_json_elsewhere,
    unclear: m.tools_json_unclear,
  };
  return texts[reason]();
}

/** Returns a text with the bounds of a part, or `null` if it has none. */
export function boundsText(shape: Shape): string | null {
  if (shape.kind === "number") {
    const bounds = [
      shape.minimum !== null && `≥ ${shape.minimum}`,
      shape.above !== null && `> ${shape.above}`,
      shape.maximum !== null && `≤ ${shape.maximum}`,
      shape.below !== null && `< ${shape.below}`,
    ].filter((bound) => bound !== false);
    return bounds.length > 0 ? bounds.join(", ") : null;
  }
  if (shape.kind === "text") {
    const range = rangeText(shape.minLength, shape.maxLength);
    return (
      range && m.tools_bounds_characters({ range, count: bound(shape.minLength, shape.maxLength) })
    );
  }
  if (shape.kind === "array") {
    const range = rangeText(shape.minItems, shape.maxItems);
    return range && m.tools_bounds_items({ range, count: bound(shape.minItems, shape.maxItems) });
  }
  return null;
}

/** Returns the number in a range that determines the plural form of its unit. */
function bound(least: number | null, most: number | null): number {
  return most ?? least ?? 0;
}

function rangeText(least: number | null, most: number | null): string | null {
  if (least === null || least === 0) return most === null ? null : `≤ ${most}`;
  if (most === null) return `≥ ${least}`;
  return least === most ? String(least) : `${least}–${most}`;
}

/** Returns an example value for the text format of a part. */
export function exampleOf(shape: Shape): string | undefined {
  if (shape.kind !== "text" || shape.format === null) return undefined;
  return {
    email: "ann@example.com",
    uri: "https://example.com/",
    date: "2026-01-31",
    "date-time": "2026-01-31T09:30:00Z",
  }[shape.format];
}
