// Label of the duration of an approval.
import type { ApprovalScope } from "$lib/api/generated";

import { m } from "../../paraglide/messages";

export function approvalScopeLabel(scope: ApprovalScope): string {
  return {
    once: m.shell_scope_once,
    conversation: m.shell_scope_conversation,
    session: m.shell_scope_session,
    always: m.shell_scope_always,
  }[scope]();
}
