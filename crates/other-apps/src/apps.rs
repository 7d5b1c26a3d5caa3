//! The apps whose settings are read, with the paths, formats and keys of their files. Each app is a row of a table.

mod settings_paths;

use crate::app_environment::OperatingSystem;
use crate::variables::ReferenceSyntax;
pub(crate) use settings_paths::{match_settings_file, matches_pattern};

/// An MCP host other than Drawbridge, such as Claude Code, whose settings may contain MCP servers.
#[derive(Debug, Clone, Copy)]
pub struct SourceApp {
    /// Identifier of the app in command-line arguments, such as `claude-code`.
    pub id: &'static str,
    /// Display name, as used by the app's maker.
    pub name: &'static str,
    /// Paths of the app's settings files that apply to all projects of a user.
    pub user_paths: &'static [SettingsPath],
    /// Paths of the app's settings files that apply to one project, relative to the project's folder.
    pub project_paths: &'static [SettingsPath],
    /// Syntax in which values in the app's settings files refer to variables.
    pub syntax: ReferenceSyntax,
}

/// The path of an app's settings file, or a pattern that matches several settings files in a folder.
#[derive(Debug, Clone, Copy)]
pub struct SettingsPath {
    /// Folder that the settings path is relative to.
    pub base: BaseFolder,
    /// Path relative to `base`, with slashes. A last component such as `*.json` matches all such files. In other
    /// components, `*` matches any folder.
    pub path: &'static str,
    /// Format of the file, and the position of the server entries in it.
    pub layout: FileLayout,
}

/// The folder that the path of a settings file is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseFolder {
    /// The user's home folder, on every operating system.
    Home,
    /// The user's home folder, on this operating system only.
    HomeOn(OperatingSystem),
    /// `XDG_CONFIG_HOME`, or `.config` in the home folder, on every operating system.
    Config,
    /// On Linux and macOS, the same folder as [`Config`](Self::Config). On Windows, the settings path does not apply.
    ConfigOffWindows,
    /// On Linux, the same folder as [`Config`](Self::Config). On other systems, the settings path does not apply.
    ConfigOnLinux,
    /// On macOS, the folder `Library/Application Support` in the home folder.
    ApplicationSupport,
    /// On Windows, the folder for roaming application data (`APPDATA`).
    AppData,
    /// On Windows, the folder for local application data (`LOCALAPPDATA`).
    LocalAppData,
    /// The folder that the environment variable (first field) contains or, if it is not set, a folder in the home
    /// folder (second field).
    Variable(&'static str, &'static str),
    /// The folder of the project that a scan searches.
    Project,
}

/// The format of a settings file, and the position of the server entries in it. JSON is read with comments and trailing
/// commas in all files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileLayout {
    /// JSON with an object of servers under one of these keys. If a file has none of the keys, the scan reports an
    /// error.
    Keys(&'static [&'static str]),
    /// JSON with an object of servers under one of these keys, or with the servers at the top level.
    KeysOrBare(&'static [&'static str]),
    /// JSON with many other settings, and optionally an object of servers under one of these keys. If a file has none
    /// of the keys, it defines no servers.
    Settings(&'static [&'static str]),
    /// Claude Code's state file: JSON with servers in `mcpServers` and `projects.*.mcpServers`. The file can have a
    /// size of many megabytes.
    ClaudeState,
    /// OpenCode's JSON, with servers in `mcp` or `mcp.servers`. The latter takes precedence.
    OpenCode,
    /// TOML with many other settings, and optionally a table of servers under one of these keys.
    Toml(&'static [&'static str]),
    /// goose's YAML, with servers in the mapping `extensions`.
    Goose,
    /// Continue's YAML, with servers in the list `mcpServers`, or JSON in the format of most other apps.
    Continue,
}

const fn settings_path(base: BaseFolder, path: &'static str, layout: FileLayout) -> SettingsPath {
    SettingsPath { base, path, layout }
}

const MCP_SERVERS_LAYOUT: FileLayout = FileLayout::Keys(&["mcpServers"]);
const GENERAL_SETTINGS_LAYOUT: FileLayout = FileLayout::Settings(&["mcpServers"]);
const SERVERS_KEY_LAYOUT: FileLayout = FileLayout::Keys(&["servers"]);
const TOP_LEVEL_SERVERS_LAYOUT: FileLayout = FileLayout::KeysOrBare(&["mcpServers"]);
const VS_CODE_SETTINGS_LAYOUT: FileLayout = FileLayout::Settings(&["mcp.servers", "mcp/servers"]);
const ZED_LAYOUT: FileLayout = FileLayout::Settings(&["context_servers"]);
/// Layout of every app's TOML settings file: the servers are in the table `mcp_servers`.
pub(crate) const TOML_LAYOUT: FileLayout = FileLayout::Toml(&["mcp_servers"]);

/// Expands to the paths of a file in the user folder of VS Code and of VS Code Insiders, on each operating system.
macro_rules! vs_code_paths {
    ($path:literal, $layout:expr) => {
        [
            settings_path(BaseFolder::ConfigOnLinux, concat!("Code/User/", $path), $layout),
            settings_path(BaseFolder::ConfigOnLinux, concat!("Code - Insiders/User/", $path), $layout),
            settings_path(BaseFolder::ApplicationSupport, concat!("Code/User/", $path), $layout),
            settings_path(BaseFolder::ApplicationSupport, concat!("Code - Insiders/User/", $path), $layout),
            settings_path(BaseFolder::AppData, concat!("Code/User/", $path), $layout),
            settings_path(BaseFolder::AppData, concat!("Code - Insiders/User/", $path), $layout),
        ]
    };
}

const VS_CODE_PATHS: [SettingsPath; 6] = vs_code_paths!("mcp.json", SERVERS_KEY_LAYOUT);
const VS_CODE_PROFILE_PATHS: [SettingsPath; 6] = vs_code_paths!("profiles/*/mcp.json", SERVERS_KEY_LAYOUT);
const VS_CODE_LEGACY_PATHS: [SettingsPath; 6] = vs_code_paths!("settings.json", VS_CODE_SETTINGS_LAYOUT);
const CLINE_PATHS: [SettingsPath; 6] =
    vs_code_paths!("globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json", MCP_SERVERS_LAYOUT);
const ROO_PATHS: [SettingsPath; 6] =
    vs_code_paths!("globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json", MCP_SERVERS_LAYOUT);

const fn concatenate_paths<const N: usize>(parts: &[&[SettingsPath]]) -> [SettingsPath; N] {
    let mut all = [settings_path(BaseFolder::Home, "", MCP_SERVERS_LAYOUT); N];
    let (mut part, mut next) = (0, 0);
    while part < parts.len() {
        let mut index = 0;
        while index < parts[part].len() {
            all[next] = parts[part][index];
            next += 1;
            index += 1;
        }
        part += 1;
    }
    all
}

const ALL_VS_CODE_PATHS: [SettingsPath; 18] =
    concatenate_paths(&[&VS_CODE_PATHS, &VS_CODE_PROFILE_PATHS, &VS_CODE_LEGACY_PATHS]);
const ALL_CLINE_PATHS: [SettingsPath; 8] = concatenate_paths(&[
    &CLINE_PATHS,
    &[
        settings_path(BaseFolder::Home, "Documents/Cline/MCP/cline_mcp_settings.json", MCP_SERVERS_LAYOUT),
        settings_path(BaseFolder::Home, "Documents/Cline/MCP/mcp_settings.json", MCP_SERVERS_LAYOUT),
    ],
]);

/// All apps whose settings are searched for MCP servers, in order of precedence: if several apps have the same server,
/// its configuration is read from the first of them. A new app is added at the end, so that it replaces no
/// configuration that was read from another app before.
pub const APPS: &[SourceApp] = &[
    SourceApp {
        id: "claude-desktop",
        name: "Claude Desktop",
        user_paths: &[
            settings_path(BaseFolder::ConfigOnLinux, "Claude/claude_desktop_config.json", GENERAL_SETTINGS_LAYOUT),
            settings_path(BaseFolder::ApplicationSupport, "Claude/claude_desktop_config.json", GENERAL_SETTINGS_LAYOUT),
            settings_path(BaseFolder::AppData, "Claude/claude_desktop_config.json", GENERAL_SETTINGS_LAYOUT),
        ],
        project_paths: &[],
        syntax: ReferenceSyntax::None,
    },
    SourceApp {
        id: "claude-code",
        name: "Claude Code",
        user_paths: &[
            settings_path(BaseFolder::Home, ".claude.json", FileLayout::ClaudeState),
            settings_path(BaseFolder::Home, ".claude/settings.json", GENERAL_SETTINGS_LAYOUT),
            settings_path(BaseFolder::Home, ".claude/settings.local.json", GENERAL_SETTINGS_LAYOUT),
            settings_path(BaseFolder::Home, ".claude/mcp.json", TOP_LEVEL_SERVERS_LAYOUT),
        ],
        project_paths: &[
            settings_path(BaseFolder::Project, ".mcp.json", FileLayout::KeysOrBare(&["mcpServers", "servers"])),
            settings_path(BaseFolder::Project, ".claude/settings.local.json", GENERAL_SETTINGS_LAYOUT),
            settings_path(BaseFolder::Project, ".claude/mcp.json", TOP_LEVEL_SERVERS_LAYOUT),
        ],
        syntax: ReferenceSyntax::Dollar,
    },
    SourceApp {
        id: "vscode",
        name: "VS Code",
        user_paths: &ALL_VS_CODE_PATHS,
        project_paths: &[
            settings_path(BaseFolder::Project, ".vscode/mcp.json", SERVERS_KEY_LAYOUT),
            settings_path(BaseFolder::Project, ".vscode/settings.json", VS_CODE_SETTINGS_LAYOUT),
        ],
        syntax: ReferenceSyntax::Dollar,
    },
    SourceApp {
        id: "copilot-cli",
        name: "Copilot CLI",
        user_paths: &[
            settings_path(
                BaseFolder::Variable("COPILOT_HOME", ".copilot"),
                "mcp-config.json",
                TOP_LEVEL_SERVERS_LAYOUT,
            ),
            settings_path(BaseFolder::Config, "mcp-config.json", TOP_LEVEL_SERVERS_LAYOUT),
            settings_path(BaseFolder::Config, ".copilot/mcp-config.json", TOP_LEVEL_SERVERS_LAYOUT),
        ],
        project_paths: &[settings_path(BaseFolder::Project, ".github/mcp.json", TOP_LEVEL_SERVERS_LAYOUT)],
        syntax: ReferenceSyntax::Dollar,
    },
    SourceApp {
        id: "copilot-jetbrains",
        name: "Copilot in JetBrains",
        user_paths: &[
            settings_path(BaseFolder::ConfigOffWindows, "github-copilot/intellij/mcp.json", SERVERS_KEY_LAYOUT),
            settings_path(BaseFolder::LocalAppData, "github-copilot/intellij/mcp.json", SERVERS_KEY_LAYOUT),
        ],
        project_paths: &[],
        syntax: ReferenceSyntax::Dollar,
    },
    SourceApp {
        id: "visual-studio",
        name: "Visual Studio",
        user_paths: &[settings_path(
            BaseFolder::HomeOn(OperatingSystem::Windows),
            ".mcp.json",
            FileLayout::Keys(&["servers", "mcpServers"]),
        )],
        project_paths: &[],
        syntax: ReferenceSyntax::Dollar,
    },
    SourceApp {
        id: "cursor",
        name: "Cursor",
        user_paths: &[settings_path(BaseFolder::Home, ".cursor/mcp.json", MCP_SERVERS_LAYOUT)],
        project_paths: &[settings_path(BaseFolder::Project, ".cursor/mcp.json", MCP_SERVERS_LAYOUT)],
        syntax: ReferenceSyntax::Dollar,
    },
    SourceApp {
        id: "windsurf",
        name: "Windsurf",
        user_paths: &[
            settings_path(BaseFolder::Home, ".codeium/windsurf/mcp_config.json", MCP_SERVERS_LAYOUT),
            settings_path(BaseFolder::Home, ".codeium/windsurf-next/mcp_config.json", MCP_SERVERS_LAYOUT),
            settings_path(BaseFolder::Home, ".windsurf/mcp_config.json", MCP_SERVERS_LAYOUT),
        ],
        project_paths: &[],
        syntax: ReferenceSyntax::Dollar,
    },
    SourceApp {
        id: "zed",
        name: "Zed",
        user_paths: &[
            settings_path(BaseFolder::ConfigOffWindows, "zed/settings.json", ZED_LAYOUT),
            settings_path(BaseFolder::ApplicationSupport, "Zed/settings.json", ZED_LAYOUT),
            settings_path(BaseFolder::AppData, "Zed/settings.json", ZED_LAYOUT),
        ],
        project_paths: &[settings_path(BaseFolder::Project, ".zed/settings.json", ZED_LAYOUT)],
        syntax: ReferenceSyntax::None,
    },
    SourceApp {
        id: "cline",
        name: "Cline",
        user_paths: &ALL_CLINE_PATHS,
        project_paths: &[],
        syntax: ReferenceSyntax::Dollar,
    },
    SourceApp {
        id: "cline-cli",
        name: "Cline CLI",
        user_paths: &[settings_path(
            BaseFolder::Variable("CLINE_DIR", ".cline"),
            "data/settings/cline_mcp_settings.json",
            MCP_SERVERS_LAYOUT,
        )],
        project_paths: &[],
        syntax: ReferenceSyntax::Dollar,
    },
    SourceApp {
        id: "roo-code",
        name: "Roo Code",
        user_paths: &ROO_PATHS,
        project_paths: &[settings_path(BaseFolder::Project, ".roo/mcp.json", MCP_SERVERS_LAYOUT)],
        syntax: ReferenceSyntax::Dollar,
    },
    SourceApp {
        id: "kilo-code",
        name: "Kilo Code",
        user_paths: &[
            settings_path(BaseFolder::Config, "kilo/kilo.json", FileLayout::OpenCode),
            settings_path(BaseFolder::Config, "kilo/kilo.jsonc", FileLayout::OpenCode),
        ],
        project_paths: &[
            settings_path(BaseFolder::Project, "kilo.json", FileLayout::OpenCode),
            settings_path(BaseFolder::Project, "kilo.jsonc", FileLayout::OpenCode),
            settings_path(BaseFolder::Project, ".kilocode/mcp.json", MCP_SERVERS_LAYOUT),
        ],
        syntax: ReferenceSyntax::Any,
    },
    SourceApp {
        id: "goose",
        name: "goose",
        user_paths: &[
            settings_path(BaseFolder::ConfigOffWindows, "goose/config.yaml", FileLayout::Goose),
            settings_path(BaseFolder::AppData, "Block/goose/config/config.yaml", FileLayout::Goose),
        ],
        project_paths: &[],
        syntax: ReferenceSyntax::None,
    },
    SourceApp {
        id: "codex",
        name: "Codex",
        user_paths: &[settings_path(BaseFolder::Variable("CODEX_HOME", ".codex"), "config.toml", TOML_LAYOUT)],
        project_paths: &[settings_path(BaseFolder::Project, ".codex/config.toml", TOML_LAYOUT)],
        syntax: ReferenceSyntax::None,
    },
    SourceApp {
        id: "gemini-cli",
        name: "Gemini CLI",
        user_paths: &[settings_path(BaseFolder::Home, ".gemini/settings.json", GENERAL_SETTINGS_LAYOUT)],
        project_paths: &[settings_path(BaseFolder::Project, ".gemini/settings.json", GENERAL_SETTINGS_LAYOUT)],
        syntax: ReferenceSyntax::Shell,
    },
    SourceApp {
        id: "antigravity",
        name: "Antigravity",
        user_paths: &[
            settings_path(BaseFolder::Home, ".gemini/config/mcp_config.json", MCP_SERVERS_LAYOUT),
            settings_path(BaseFolder::Home, ".gemini/antigravity/mcp_config.json", MCP_SERVERS_LAYOUT),
        ],
        project_paths: &[],
        syntax: ReferenceSyntax::Dollar,
    },
    SourceApp {
        id: "lm-studio",
        name: "LM Studio",
        user_paths: &[
            settings_path(BaseFolder::Home, ".lmstudio/mcp.json", MCP_SERVERS_LAYOUT),
            settings_path(BaseFolder::Home, ".cache/lm-studio/mcp.json", MCP_SERVERS_LAYOUT),
        ],
        project_paths: &[],
        syntax: ReferenceSyntax::Dollar,
    },
    SourceApp {
        id: "continue",
        name: "Continue",
        user_paths: &[
            settings_path(BaseFolder::Home, ".continue/config.yaml", FileLayout::Continue),
            settings_path(BaseFolder::Home, ".continue/mcpServers/*.yaml", FileLayout::Continue),
            settings_path(BaseFolder::Home, ".continue/mcpServers/*.json", FileLayout::Continue),
        ],
        project_paths: &[
            settings_path(BaseFolder::Project, ".continue/mcpServers/*.yaml", FileLayout::Continue),
            settings_path(BaseFolder::Project, ".continue/mcpServers/*.json", FileLayout::Continue),
        ],
        syntax: ReferenceSyntax::DoubleBraces,
    },
    SourceApp {
        id: "junie",
        name: "Junie",
        user_paths: &[settings_path(BaseFolder::Home, ".junie/mcp/mcp.json", MCP_SERVERS_LAYOUT)],
        project_paths: &[settings_path(BaseFolder::Project, ".junie/mcp/mcp.json", MCP_SERVERS_LAYOUT)],
        syntax: ReferenceSyntax::Dollar,
    },
    SourceApp {
        id: "opencode",
        name: "opencode",
        user_paths: &[
            settings_path(BaseFolder::Config, "opencode/opencode.json", FileLayout::OpenCode),
            settings_path(BaseFolder::Config, "opencode/opencode.jsonc", FileLayout::OpenCode),
        ],
        project_paths: &[
            settings_path(BaseFolder::Project, "opencode.json", FileLayout::OpenCode),
            settings_path(BaseFolder::Project, "opencode.jsonc", FileLayout::OpenCode),
        ],
        syntax: ReferenceSyntax::Braces,
    },
    SourceApp {
        id: "amazon-q",
        name: "Amazon Q",
        user_paths: &[
            settings_path(BaseFolder::Home, ".aws/amazonq/cli-agents/*.json", GENERAL_SETTINGS_LAYOUT),
            settings_path(BaseFolder::Home, ".aws/amazonq/agents/default.json", GENERAL_SETTINGS_LAYOUT),
            settings_path(BaseFolder::Home, ".aws/amazonq/mcp.json", MCP_SERVERS_LAYOUT),
        ],
        project_paths: &[settings_path(BaseFolder::Project, ".amazonq/mcp.json", MCP_SERVERS_LAYOUT)],
        syntax: ReferenceSyntax::Dollar,
    },
    SourceApp {
        id: "kiro",
        name: "Kiro",
        user_paths: &[settings_path(BaseFolder::Home, ".kiro/settings/mcp.json", MCP_SERVERS_LAYOUT)],
        project_paths: &[settings_path(BaseFolder::Project, ".kiro/settings/mcp.json", MCP_SERVERS_LAYOUT)],
        syntax: ReferenceSyntax::Dollar,
    },
    SourceApp {
        id: "mcporter",
        name: "mcporter",
        user_paths: &[
            settings_path(BaseFolder::Home, ".mcporter/mcporter.json", MCP_SERVERS_LAYOUT),
            settings_path(BaseFolder::Home, ".mcporter/mcporter.jsonc", MCP_SERVERS_LAYOUT),
        ],
        project_paths: &[settings_path(BaseFolder::Project, "config/mcporter.json", MCP_SERVERS_LAYOUT)],
        syntax: ReferenceSyntax::Dollar,
    },
    SourceApp {
        id: "kimi",
        name: "Kimi",
        user_paths: &[
            settings_path(BaseFolder::Variable("KIMI_HOME", ".kimi"), "mcp.json", MCP_SERVERS_LAYOUT),
            settings_path(BaseFolder::Home, ".kimi-code/mcp.json", MCP_SERVERS_LAYOUT),
        ],
        project_paths: &[settings_path(BaseFolder::Project, ".kimi-code/mcp.json", MCP_SERVERS_LAYOUT)],
        syntax: ReferenceSyntax::Dollar,
    },
    SourceApp {
        id: "grok-build",
        name: "Grok Build",
        user_paths: &[settings_path(BaseFolder::Variable("GROK_HOME", ".grok"), "config.toml", TOML_LAYOUT)],
        project_paths: &[settings_path(BaseFolder::Project, ".grok/config.toml", TOML_LAYOUT)],
        syntax: ReferenceSyntax::None,
    },
    SourceApp {
        id: "pi",
        name: "Pi",
        user_paths: &[settings_path(BaseFolder::Home, ".pi/agent/mcp.json", MCP_SERVERS_LAYOUT)],
        project_paths: &[settings_path(BaseFolder::Project, ".pi/mcp.json", MCP_SERVERS_LAYOUT)],
        syntax: ReferenceSyntax::Dollar,
    },
    SourceApp {
        id: "mastra",
        name: "Mastra Code",
        user_paths: &[settings_path(BaseFolder::Home, ".mastracode/mcp.json", MCP_SERVERS_LAYOUT)],
        project_paths: &[settings_path(BaseFolder::Project, ".mastracode/mcp.json", MCP_SERVERS_LAYOUT)],
        syntax: ReferenceSyntax::Dollar,
    },
];

/// Returns the app with this identifier or display name, ignoring case.
#[must_use]
pub fn find_source_app(name: &str) -> Option<&'static SourceApp> {
    APPS.iter().find(|app| app.id.eq_ignore_ascii_case(name) || app.name.eq_ignore_ascii_case(name))
}
