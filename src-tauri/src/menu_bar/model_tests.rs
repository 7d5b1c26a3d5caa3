//! Tests of `model.rs`.

use serde_json::json;

use super::*;

const ALL_CONVENTIONS: [MenuConventions; 3] =
    [MenuConventions::MacOs, MenuConventions::Windows, MenuConventions::Linux];

fn menu_bar_content() -> MenuBarContent {
    let action = |id: &str, menu: &str, keys: Option<&str>| {
        let label = format!("Do {id}");
        let starts_group = ["new", "zoom-in"].contains(&id);
        json!({"id": id, "menu": menu, "startsGroup": starts_group, "label": label, "keys": keys, "enabled": true})
    };
    serde_json::from_value(json!({
        "shown": true,
        "titles": {"file": "File", "edit": "Edit", "view": "View", "window": "Window", "help": "帮助"},
        "labels": {
            "about": "About", "services": "Services", "hide": "Hide", "hideOthers": "Hide others",
            "showAll": "Show all", "quit": "Quit", "undo": "Undo", "redo": "Redo", "cut": "Cut", "copy": "Copy",
            "paste": "Paste", "selectAll": "Select all", "minimize": "Minimize", "fullScreen": "Full screen",
            "closeWindow": "Close window"
        },
        "actions": [
            action("new", "file", Some("Mod+N")), action("settings", "app", Some("Mod+,")),
            action("search", "view", Some("Mod+K")), action("zoom-in", "view", Some("Mod++")),
            action("bar", "window", None), action("guide", "help", Some("F1")), action("shortcuts", "help", Some("?"))
        ]
    }))
    .expect("the content of the page")
}

/// Returns each menu as its title and a short form of its entries.
fn menu_outline(conventions: MenuConventions) -> Vec<(String, String)> {
    let short = |entry: &MenuEntry| match entry {
        MenuEntry::Separator => "-".to_owned(),
        MenuEntry::Standard(item, _) => format!("{item:?}"),
        MenuEntry::Action { id, accelerator, .. } => match accelerator {
            Some(keys) => format!("{id}={keys}"),
            None => id.clone(),
        },
    };
    let menus = arrange_menus(&menu_bar_content(), conventions);
    menus.into_iter().map(|menu| (menu.title, menu.entries.iter().map(short).collect::<Vec<_>>().join(" "))).collect()
}

fn expected_menu(title: &str, entries: &str) -> (String, String) {
    (title.to_owned(), entries.to_owned())
}

#[test]
fn e11_menus_follow_the_conventions_of_each_system() {
    let app = "About - settings=CmdOrCtrl+, - Services - Hide HideOthers ShowAll - Quit";
    let edit = "Undo Redo - Cut Copy Paste SelectAll";
    let view = "search=CmdOrCtrl+K - zoom-in=CmdOrCtrl+=";
    let help = "guide=F1 shortcuts";
    let mac = [
        expected_menu("Drawbridge", app),
        expected_menu("File", "new=CmdOrCtrl+N - CloseWindow"),
        expected_menu("Edit", edit),
        expected_menu("View", &format!("{view} - FullScreen")),
        expected_menu("Window", "Minimize - bar"),
        expected_menu("帮助", help),
    ];
    assert_eq!(menu_outline(MenuConventions::MacOs), mac, "macOS should have a menu of the app");
    let in_window = |edit| {
        [
            expected_menu("&File", "new=CmdOrCtrl+N - settings=CmdOrCtrl+, - CloseWindow Quit"),
            expected_menu("&Edit", edit),
            expected_menu("&View", &format!("{view} - bar")),
            expected_menu("帮助(&H)", &format!("{help} - About")),
        ]
    };
    assert_eq!(menu_outline(MenuConventions::Linux), in_window(edit), "Linux should have a menu bar in the window");
    assert_eq!(
        menu_outline(MenuConventions::Windows),
        in_window("Cut Copy Paste SelectAll"),
        "Windows should have no items that it can't execute"
    );
}

#[test]
fn menus_contain_only_actions_of_the_page() {
    let mut content = menu_bar_content();
    content.actions.clear();
    for conventions in ALL_CONVENTIONS {
        let menus = arrange_menus(&content, conventions);
        let is_action = |entry: &MenuEntry| matches!(entry, MenuEntry::Action { .. });
        assert!(!menus.iter().flat_map(|menu| &menu.entries).any(is_action), "{conventions:?} should add no action");
    }
}

#[test]
fn menu_actions_are_bounded_in_number_and_id_length() {
    let mut content = menu_bar_content();
    let mut action = content.actions.remove(0);
    action.starts_group = false;
    content.actions = vec![action.clone(); MAX_MENU_ACTIONS + 5];
    action.id = "x".repeat(MAX_MENU_ACTION_ID_BYTES + 1);
    content.actions.insert(0, action);
    let menus = arrange_menus(&content, MenuConventions::Linux);
    let ids = menus.iter().flat_map(|menu| &menu.entries).filter_map(|entry| match entry {
        MenuEntry::Action { id, .. } => Some(id.as_str()),
        MenuEntry::Separator | MenuEntry::Standard(..) => None,
    });
    assert_eq!(ids.collect::<Vec<_>>(), ["new"; MAX_MENU_ACTIONS], "further actions should be omitted");
}

#[test]
fn changed_state_or_label_of_an_action_does_not_rebuild_the_menus() {
    let before = arrange_menus(&menu_bar_content(), MenuConventions::Linux);
    assert_eq!(changed_actions_if_same_structure(&before, &before), Some(Vec::new()), "nothing should change");
    let mut disabled = menu_bar_content();
    disabled.actions[0].enabled = false;
    let after = arrange_menus(&disabled, MenuConventions::Linux);
    let changed = |label| Some(vec![ChangedMenuAction { id: "new", label, enabled: false }]);
    assert_eq!(changed_actions_if_same_structure(&before, &after), changed(None), "one item should be disabled");
    disabled.actions[0].label = "新建".to_owned();
    let renamed = arrange_menus(&disabled, MenuConventions::Linux);
    assert_eq!(
        changed_actions_if_same_structure(&before, &renamed),
        changed(Some("新建")),
        "the label of one item should change"
    );
    disabled.actions[0].keys = None;
    let without_keys = arrange_menus(&disabled, MenuConventions::Linux);
    assert_eq!(
        changed_actions_if_same_structure(&before, &without_keys),
        None,
        "other shortcuts should build the menus again"
    );
    disabled.actions.remove(0);
    let shorter = arrange_menus(&disabled, MenuConventions::Linux);
    assert_eq!(
        changed_actions_if_same_structure(&before, &shorter),
        None,
        "other actions should build the menus again"
    );
}

#[test]
fn labels_show_ampersands_and_unknown_shortcuts_are_omitted() {
    assert_eq!(escape_mnemonics("Rules & audit"), "Rules && audit", "an ampersand should not mark a mnemonic");
    for keys in ["Mod+", "Mod+K+L", "Mod+é", "Shift+K", "F0", "F13", "F", "Enter", "", "K"] {
        assert_eq!(tauri_accelerator_of_shortcut(keys), None, "{keys}");
    }
    assert_eq!(
        tauri_accelerator_of_shortcut("Mod+-").as_deref(),
        Some("CmdOrCtrl+-"),
        "the minus key should be supported"
    );
}
