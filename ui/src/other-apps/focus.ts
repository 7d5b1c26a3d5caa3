// Where reading goes on when one step takes the place of another, and with it of what had the focus.
import type { Attachment } from "svelte/attachments";

/** Gives an element the focus once it is there. It needs a `tabindex`. */
export const focused: Attachment<HTMLElement> = (element) => {
  element.focus();
};
