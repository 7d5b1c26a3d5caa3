// Keyboard shortcuts in the order of the shortcuts dialog.
import { m } from "../paraglide/messages";

import { windowActions } from "./window-actions";

export interface ShortcutGroup {
  title: string;
  shortcuts: { keys: string[]; text: string }[];
}

export function shortcutGroups(): ShortcutGroup[] {
  const actions = windowActions();
  const shortcutsOf = (...ids: string[]) =>
    ids.flatMap((id) => {
      const action = actions.find((one) => one.id === id);
      if (action?.keys === undefined) return [];
      return [{ keys: [action.keys], text: action.shortcutText ?? action.label }];
    });
  return [
    {
      title: m.shell_keys_everywhere(),
      shortcuts: [
        ...shortcutsOf("search", "approvals", "activity", "new-conversation", "settings"),
        // One line for three actions.
        { keys: ["Mod++", "Mod+-", "Mod+0"], text: m.shell_keys_zoom() },
        ...shortcutsOf("guide", "shortcuts", "menu-bar", "quit"),
        { keys: ["Escape"], text: m.shell_keys_close() },
      ],
    },
    {
      title: m.shell_keys_consent(),
      shortcuts: [
        { keys: ["F6"], text: m.shell_keys_request() },
        { keys: ["Enter"], text: m.shell_keys_focused() },
        { keys: ["A"], text: m.shell_keys_allow() },
        { keys: ["D"], text: m.shell_keys_deny() },
        { keys: ["F"], text: m.shell_keys_fields() },
        { keys: ["Escape"], text: m.shell_keys_later() },
      ],
    },
    {
      title: m.shell_keys_conversation(),
      shortcuts: [
        { keys: ["/"], text: m.shell_keys_prompts() },
        { keys: ["@"], text: m.shell_keys_resources() },
        { keys: ["↑"], text: m.shell_keys_edit_last() },
        { keys: ["Escape"], text: m.shell_keys_stop() },
      ],
    },
  ];
}
