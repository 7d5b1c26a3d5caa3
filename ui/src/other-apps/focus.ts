// Moves the focus when a step replaces the one that had it.
import type { Attachment } from "svelte/attachments";

/** Attachment that focuses an element on mount. The element needs a `tabindex`. */
export const focusOnMount: Attachment<HTMLElement> = (element) => {
  element.focus();
};
