// A standing approval in words, with what taking it back means.

import type { Grant } from "$lib/api/generated";
import { beginning, visibleText } from "$lib/format/text-safety";

import { m } from "../paraglide/messages";

export function grantWords(grant: Grant): { what: string; server: string; afterwards: string } {
  const server = short(grant.server);
  if (grant.tool === null) {
    const afterwards = m.settings_rules_confirm_command({ server });
    return { what: m.settings_rules_command(), server, afterwards };
  }
  const tool = short(grant.tool);
  const afterwards = m.settings_rules_confirm_tool({ tool });
  return { what: m.settings_rules_tool({ tool }), server, afterwards };
}

function short(text: string): string {
  const start = beginning(text, 80, 1);
  return visibleText(start) + (start.length < text.length ? "…" : "");
}
