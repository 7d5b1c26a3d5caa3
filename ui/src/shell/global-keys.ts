// Keyboard shortcuts of the whole window. Letters are ignored while the user types, and all keys while a consent
// request or another dialog is open.
import { isShortcutModifier, isTyping } from "$lib/format/keys";
import { router } from "$lib/state/router.svelte";

import { newConversation } from "./actions";
import { currentActivity, toggleActivity } from "./current-activity";
import { overlay } from "./overlay.svelte";
import { openConsentQueue } from "./views";

export function onkeydown(event: KeyboardEvent): void {
  if (event.defaultPrevented || document.querySelector("[role=dialog], [role=alertdialog]")) return;
  if (!action(event)) return;
  event.preventDefault();
}

function action(event: KeyboardEvent): boolean {
  if (isShortcutModifier(event) && !event.shiftKey && !event.altKey) {
    switch (event.key.toLowerCase()) {
      case "k":
        overlay.palette = true;
        return true;
      case "n":
        void newConversation();
        return true;
      case "i":
        if (!currentActivity(router.current)) return false;
        toggleActivity();
        return true;
      case "j":
        openConsentQueue();
        return true;
      case ",":
        router.go({ at: "settings" });
        return true;
    }
  } else if (event.key === "F1") {
    router.go({ at: "guide" });
    return true;
  } else if (event.key === "?" && !isTyping(event)) {
    overlay.shortcuts = true;
    return true;
  }
  return false;
}
