// Label of a grant and the consequence of its revocation. `remote` is set for servers with a URL instead of a
// command.

import type { Grant } from "$lib/api/generated";
import { textBeginning, visibleText } from "$lib/format/text-safety";

import { m } from "../paraglide/messages";

export function grantLabel(
  grant: Grant,
  remote: boolean,
): { what: string; server: string; afterwards: string } {
  const server = short(grant.server);
  if (grant.tool === null) {
    const afterwards = m.settings_rules_confirm_command({ server });
    const what = remote ? m.settings_rules_address() : m.settings_rules_command();
    return { what, server, afterwards };
  }
  const tool = short(grant.tool);
  const afterwards = m.settings_rules_confirm_tool({ tool });
  return { what: m.settings_rules_tool({ tool }), server, afterwards };
}

function short(text: string): string {
  const start = textBeginning(text, 80, 1);
  return visibleText(start) + (start.length < text.length ? "…" : "");
}
