// Hints on the values that a form field accepts.

import type { FieldKind, FormField } from "$lib/api/generated";

import { m } from "../paraglide/messages";

export function fieldHint(field: FormField): string | undefined {
  const { kind } = field;
  switch (kind.type) {
    case "text":
      return (
        formatHint(kind.format) ?? rangeHint(m.consent_hint_text(), kind.minLength, kind.maxLength)
      );
    case "number": {
      const what = kind.integer ? m.consent_hint_integer() : m.consent_hint_number();
      return rangeHint(what, kind.minimum, kind.maximum) ?? what;
    }
    case "choices":
      return rangeHint(m.consent_hint_choices(), kind.minItems, kind.maxItems);
    default:
      return undefined;
  }
}

function formatHint(format: string | null): string | undefined {
  switch (format) {
    case "email":
      return m.consent_hint_email();
    case "uri":
      return m.consent_hint_uri();
    case "date":
      return m.consent_hint_date();
    case "date-time":
      return m.consent_hint_date_time();
    default:
      return undefined;
  }
}

function rangeHint(what: string, least: number | null, most: number | null): string | undefined {
  if (least !== null && most !== null) return m.consent_hint_between({ what, least, most });
  if (least !== null) return m.consent_hint_from({ what, least });
  if (most !== null) return m.consent_hint_to({ what, most });
  return undefined;
}

/** Returns the `inputmode` attribute of a field, which selects the layout of an on-screen keyboard. */
export function inputMode(kind: FieldKind): "text" | "email" | "url" | "numeric" | "decimal" {
  if (kind.type === "number") return kind.integer ? "numeric" : "decimal";
  if (kind.type === "text" && kind.format === "email") return "email";
  if (kind.type === "text" && kind.format === "uri") return "url";
  return "text";
}
