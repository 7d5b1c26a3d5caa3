// Keyboard shortcuts in the order of the shortcuts dialog.
import { m } from "../paraglide/messages";

export interface ShortcutGroup {
  title: string;
  shortcuts: { keys: string[]; text: string }[];
}

export function shortcutGroups(): ShortcutGroup[] {
  return [
    {
      title: m.shell_keys_everywhere(),
      shortcuts: [
        { keys: ["Mod+K"], text: m.shell_keys_palette() },
        { keys: ["Mod+J"], text: m.shell_keys_queue() },
        { keys: ["Mod+I"], text: m.shell_activity_beside() },
        { keys: ["Mod+N"], text: m.shell_new_conversation() },
        { keys: ["Mod+,"], text: m.shell_keys_settings() },
        { keys: ["Mod++", "Mod+-", "Mod+0"], text: m.shell_keys_zoom() },
        { keys: ["F1"], text: m.guide_title() },
        { keys: ["?"], text: m.shell_shortcuts() },
        { keys: ["Escape"], text: m.shell_keys_close() },
      ],
    },
    {
      title: m.shell_keys_consent(),
      shortcuts: [
        { keys: ["Enter"], text: m.shell_keys_focused() },
        { keys: ["A"], text: m.shell_keys_allow() },
        { keys: ["D"], text: m.shell_keys_deny() },
        { keys: ["F"], text: m.shell_keys_fields() },
        { keys: ["Escape"], text: m.shell_keys_cancel() },
      ],
    },
    {
      title: m.shell_keys_conversation(),
      shortcuts: [
        { keys: ["/"], text: m.shell_keys_prompts() },
        { keys: ["@"], text: m.shell_keys_resources() },
        { keys: ["↑"], text: m.shell_keys_edit_last() },
      ],
    },
  ];
}
