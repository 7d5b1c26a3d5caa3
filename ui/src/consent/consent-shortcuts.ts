// The keys of a question: A allows, D denies, F goes to the first field, unless something is being typed. Ctrl+Enter sends a form, also
// from its fields.

export type ConsentShortcut = "allow" | "deny" | "fields" | "send";

export function consentShortcut(event: KeyboardEvent): ConsentShortcut | null {
  if (isSend(event)) return "send";
  if (event.repeat || event.isComposing || event.ctrlKey || event.altKey || event.metaKey)
    return null;
  if (isTyping(event.target)) return null;
  switch (event.key.toLowerCase()) {
    case "a":
      return "allow";
    case "d":
      return "deny";
    case "f":
      return "fields";
    default:
      return null;
  }
}

function isSend(event: KeyboardEvent): boolean {
  if (event.repeat || event.isComposing || event.altKey || event.shiftKey) return false;
  return event.key === "Enter" && (event.ctrlKey || event.metaKey);
}

/** A held key must not press the button or the menu item it is on again and again. */
export function isHeldActivation(event: KeyboardEvent): boolean {
  return event.repeat && (event.key === "Enter" || event.key === " ") && !isField(event.target);
}

/** Whether keys go into a field, or choose something in a menu or a list. */
function isTyping(target: EventTarget | null): boolean {
  if (isField(target)) return true;
  return target instanceof Element && target.closest("[role=menu], [role=listbox]") !== null;
}

function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.closest("input, textarea, select") !== null;
}
