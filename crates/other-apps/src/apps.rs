//! The apps whose settings are read: paths, formats and keys of their files. Each app is one row of a table.

mod places;

use crate::surroundings::System;
use crate::variables::Syntax;
pub(crate) use places::{fits_pattern, place_of};

/// An app with MCP servers in its settings.
#[derive(Debug, Clone, Copy)]
pub struct App {
    /// Identifier on the command line.
    pub id: &'static str,
    /// Display name, as written by its maker.
    pub name: &'static str,
    /// Settings files of the user.
    pub places: &'static [Place],
    /// Settings files in a project.
    pub project: &'static [Place],
    /// Syntax of references to variables.
    pub syntax: Syntax,
}

/// A file, or every matching file in a folder.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Folder that the path is relative to.
    pub base: Base,
    /// Path with slashes. A last component such as `*.json` matches every such file, and any other `*` every folder.
    pub path: &'static str,
    /// Location of the servers in the file.
    pub layout: Layout,
}

/// A folder that contains settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// The home folder, on every system.
    Home,
    /// The home folder, on one system only.
    HomeOn(System),
    /// `XDG_CONFIG_HOME`, or `.config` in the home folder, on every system.
    Config,
    /// The same folder as [`Config`](Self::Config), except on Windows.
    ConfigOffWindows,
    /// The same folder as [`Config`](Self::Config), only on Linux.
    ConfigOnLinux,
    /// `Library/Application Support` on macOS.
    ApplicationSupport,
    /// The roaming application data folder of Windows.
    AppData,
    /// The local application data folder of Windows.
    LocalAppData,
    /// The folder that a variable names, or this folder in the home folder.
    Variable(&'static str, &'static str),
    /// The folder of a project.
    Project,
}

/// The location of servers in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// An object of servers under one of these keys.
    Keys(&'static [&'static str]),
    /// An object of servers under one of these keys, or as the whole file.
    KeysOrBare(&'static [&'static str]),
    /// Optional, under one of these keys in general settings.
    Settings(&'static [&'static str]),
    /// `mcpServers` and `projects.*.mcpServers`, in a file that grows to many megabytes.
    ClaudeState,
    /// `mcp`, or `mcp.servers`, which takes precedence.
    OpenCode,
    /// The table `mcp_servers` in TOML.
    Toml,
    /// The mapping `extensions` in YAML.
    Goose,
    /// The list `mcpServers` in YAML. A JSON file in the same folder has the format of other apps.
    Continue,
}

const fn at(base: Base, path: &'static str, layout: Layout) -> Place {
    Place { base, path, layout }
}

const MCP_SERVERS: Layout = Layout::Keys(&["mcpServers"]);
const SETTINGS: Layout = Layout::Settings(&["mcpServers"]);
const SERVERS: Layout = Layout::Keys(&["servers"]);
const BARE: Layout = Layout::KeysOrBare(&["mcpServers"]);
const CODE_SETTINGS: Layout = Layout::Settings(&["mcp.servers", "mcp/servers"]);
const ZED: Layout = Layout::Settings(&["context_servers"]);

/// Expands to a file of VS Code's user folder, on each system and in both editions.
macro_rules! in_code {
    ($path:literal, $layout:expr) => {
        [
            at(Base::ConfigOnLinux, concat!("Code/User/", $path), $layout),
            at(Base::ConfigOnLinux, concat!("Code - Insiders/User/", $path), $layout),
            at(Base::ApplicationSupport, concat!("Code/User/", $path), $layout),
            at(Base::ApplicationSupport, concat!("Code - Insiders/User/", $path), $layout),
            at(Base::AppData, concat!("Code/User/", $path), $layout),
            at(Base::AppData, concat!("Code - Insiders/User/", $path), $layout),
        ]
    };
}

const CODE: [Place; 6] = in_code!("mcp.json", SERVERS);
const CODE_PROFILES: [Place; 6] = in_code!("profiles/*/mcp.json", SERVERS);
const CODE_LEGACY: [Place; 6] = in_code!("settings.json", CODE_SETTINGS);
const CLINE: [Place; 6] =
    in_code!("globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json", MCP_SERVERS);
const ROO: [Place; 6] = in_code!("globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json", MCP_SERVERS);

const fn joined<const N: usize>(parts: &[&[Place]]) -> [Place; N] {
    let mut all = [at(Base::Home, "", MCP_SERVERS); N];
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

const ALL_OF_CODE: [Place; 18] = joined(&[&CODE, &CODE_PROFILES, &CODE_LEGACY]);
const ALL_OF_CLINE: [Place; 8] = joined(&[
    &CLINE,
    &[
        at(Base::Home, "Documents/Cline/MCP/cline_mcp_settings.json", MCP_SERVERS),
        at(Base::Home, "Documents/Cline/MCP/mcp_settings.json", MCP_SERVERS),
    ],
]);

/// All apps whose settings are read.
pub const APPS: &[App] = &[
    App {
        id: "claude-desktop",
        name: "Claude Desktop",
        places: &[
            at(Base::ConfigOnLinux, "Claude/claude_desktop_config.json", SETTINGS),
            at(Base::ApplicationSupport, "Claude/claude_desktop_config.json", SETTINGS),
            at(Base::AppData, "Claude/claude_desktop_config.json", SETTINGS),
        ],
        project: &[],
        syntax: Syntax::None,
    },
    App {
        id: "claude-code",
        name: "Claude Code",
        places: &[
            at(Base::Home, ".claude.json", Layout::ClaudeState),
            at(Base::Home, ".claude/settings.json", SETTINGS),
            at(Base::Home, ".claude/settings.local.json", SETTINGS),
            at(Base::Home, ".claude/mcp.json", BARE),
        ],
        project: &[
            at(Base::Project, ".mcp.json", Layout::KeysOrBare(&["mcpServers", "servers"])),
            at(Base::Project, ".claude/settings.local.json", SETTINGS),
            at(Base::Project, ".claude/mcp.json", BARE),
        ],
        syntax: Syntax::Dollar,
    },
    App {
        id: "vscode",
        name: "VS Code",
        places: &ALL_OF_CODE,
        project: &[
            at(Base::Project, ".vscode/mcp.json", SERVERS),
            at(Base::Project, ".vscode/settings.json", CODE_SETTINGS),
        ],
        syntax: Syntax::Dollar,
    },
    App {
        id: "copilot-cli",
        name: "Copilot CLI",
        places: &[
            at(Base::Variable("COPILOT_HOME", ".copilot"), "mcp-config.json", BARE),
            at(Base::Config, "mcp-config.json", BARE),
            at(Base::Config, ".copilot/mcp-config.json", BARE),
        ],
        project: &[at(Base::Project, ".github/mcp.json", BARE)],
        syntax: Syntax::Dollar,
    },
    App {
        id: "copilot-jetbrains",
        name: "Copilot in JetBrains",
        places: &[
            at(Base::ConfigOffWindows, "github-copilot/intellij/mcp.json", SERVERS),
            at(Base::LocalAppData, "github-copilot/intellij/mcp.json", SERVERS),
        ],
        project: &[],
        syntax: Syntax::Dollar,
    },
    App {
        id: "visual-studio",
        name: "Visual Studio",
        places: &[at(Base::HomeOn(System::Windows), ".mcp.json", Layout::Keys(&["servers", "mcpServers"]))],
        project: &[],
        syntax: Syntax::Dollar,
    },
    App {
        id: "cursor",
        name: "Cursor",
        places: &[at(Base::Home, ".cursor/mcp.json", MCP_SERVERS)],
        project: &[at(Base::Project, ".cursor/mcp.json", MCP_SERVERS)],
        syntax: Syntax::Dollar,
    },
    App {
        id: "windsurf",
        name: "Windsurf",
        places: &[
            at(Base::Home, ".codeium/windsurf/mcp_config.json", MCP_SERVERS),
            at(Base::Home, ".codeium/windsurf-next/mcp_config.json", MCP_SERVERS),
            at(Base::Home, ".windsurf/mcp_config.json", MCP_SERVERS),
        ],
        project: &[],
        syntax: Syntax::Dollar,
    },
    App {
        id: "zed",
        name: "Zed",
        places: &[
            at(Base::ConfigOffWindows, "zed/settings.json", ZED),
            at(Base::ApplicationSupport, "Zed/settings.json", ZED),
            at(Base::AppData, "Zed/settings.json", ZED),
        ],
        project: &[at(Base::Project, ".zed/settings.json", ZED)],
        syntax: Syntax::None,
    },
    App { id: "cline", name: "Cline", places: &ALL_OF_CLINE, project: &[], syntax: Syntax::Dollar },
    App {
        id: "cline-cli",
        name: "Cline CLI",
        places: &[at(Base::Variable("CLINE_DIR", ".cline"), "data/settings/cline_mcp_settings.json", MCP_SERVERS)],
        project: &[],
        syntax: Syntax::Dollar,
    },
    App {
        id: "roo-code",
        name: "Roo Code",
        places: &ROO,
        project: &[at(Base::Project, ".roo/mcp.json", MCP_SERVERS)],
        syntax: Syntax::Dollar,
    },
    App {
        id: "kilo-code",
        name: "Kilo Code",
        places: &[
            at(Base::Config, "kilo/kilo.json", Layout::OpenCode),
            at(Base::Config, "kilo/kilo.jsonc", Layout::OpenCode),
        ],
        project: &[
            at(Base::Project, "kilo.json", Layout::OpenCode),
            at(Base::Project, "kilo.jsonc", Layout::OpenCode),
            at(Base::Project, ".kilocode/mcp.json", MCP_SERVERS),
        ],
        syntax: Syntax::Any,
    },
    App {
        id: "goose",
        name: "goose",
        places: &[
            at(Base::ConfigOffWindows, "goose/config.yaml", Layout::Goose),
            at(Base::AppData, "Block/goose/config/config.yaml", Layout::Goose),
        ],
        project: &[],
        syntax: Syntax::None,
    },
    App {
        id: "codex",
        name: "Codex",
        places: &[at(Base::Variable("CODEX_HOME", ".codex"), "config.toml", Layout::Toml)],
        project: &[at(Base::Project, ".codex/config.toml", Layout::Toml)],
        syntax: Syntax::None,
    },
    App {
        id: "gemini-cli",
        name: "Gemini CLI",
        places: &[at(Base::Home, ".gemini/settings.json", SETTINGS)],
        project: &[at(Base::Project, ".gemini/settings.json", SETTINGS)],
        syntax: Syntax::Shell,
    },
    App {
        id: "antigravity",
        name: "Antigravity",
        places: &[
            at(Base::Home, ".gemini/config/mcp_config.json", MCP_SERVERS),
            at(Base::Home, ".gemini/antigravity/mcp_config.json", MCP_SERVERS),
        ],
        project: &[],
        syntax: Syntax::Dollar,
    },
    App {
        id: "lm-studio",
        name: "LM Studio",
        places: &[
            at(Base::Home, ".lmstudio/mcp.json", MCP_SERVERS),
            at(Base::Home, ".cache/lm-studio/mcp.json", MCP_SERVERS),
        ],
        project: &[],
        syntax: Syntax::Dollar,
    },
    App {
        id: "continue",
        name: "Continue",
        places: &[
            at(Base::Home, ".continue/config.yaml", Layout::Continue),
            at(Base::Home, ".continue/mcpServers/*.yaml", Layout::Continue),
            at(Base::Home, ".continue/mcpServers/*.json", Layout::Continue),
        ],
        project: &[
            at(Base::Project, ".continue/mcpServers/*.yaml", Layout::Continue),
            at(Base::Project, ".continue/mcpServers/*.json", Layout::Continue),
        ],
        syntax: Syntax::DoubleBraces,
    },
    App {
        id: "junie",
        name: "Junie",
        places: &[at(Base::Home, ".junie/mcp/mcp.json", MCP_SERVERS)],
        project: &[at(Base::Project, ".junie/mcp/mcp.json", MCP_SERVERS)],
        syntax: Syntax::Dollar,
    },
    App {
        id: "opencode",
        name: "opencode",
        places: &[
            at(Base::Config, "opencode/opencode.json", Layout::OpenCode),
            at(Base::Config, "opencode/opencode.jsonc", Layout::OpenCode),
        ],
        project: &[
            at(Base::Project, "opencode.json", Layout::OpenCode),
            at(Base::Project, "opencode.jsonc", Layout::OpenCode),
        ],
        syntax: Syntax::Braces,
    },
    App {
        id: "amazon-q",
        name: "Amazon Q",
        places: &[
            at(Base::Home, ".aws/amazonq/cli-agents/*.json", SETTINGS),
            at(Base::Home, ".aws/amazonq/agents/default.json", SETTINGS),
            at(Base::Home, ".aws/amazonq/mcp.json", MCP_SERVERS),
        ],
        project: &[at(Base::Project, ".amazonq/mcp.json", MCP_SERVERS)],
        syntax: Syntax::Dollar,
    },
    App {
        id: "kiro",
        name: "Kiro",
        places: &[at(Base::Home, ".kiro/settings/mcp.json", MCP_SERVERS)],
        project: &[at(Base::Project, ".kiro/settings/mcp.json", MCP_SERVERS)],
        syntax: Syntax::Dollar,
    },
    App {
        id: "mcporter",
        name: "mcporter",
        places: &[
            at(Base::Home, ".mcporter/mcporter.json", MCP_SERVERS),
            at(Base::Home, ".mcporter/mcporter.jsonc", MCP_SERVERS),
        ],
        project: &[at(Base::Project, "config/mcporter.json", MCP_SERVERS)],
        syntax: Syntax::Dollar,
    },
    App {
        id: "kimi",
        name: "Kimi",
        places: &[
            at(Base::Variable("KIMI_HOME", ".kimi"), "mcp.json", MCP_SERVERS),
            at(Base::Home, ".kimi-code/mcp.json", MCP_SERVERS),
        ],
        project: &[at(Base::Project, ".kimi-code/mcp.json", MCP_SERVERS)],
        syntax: Syntax::Dollar,
    },
    App {
        id: "grok-build",
        name: "Grok Build",
        places: &[at(Base::Variable("GROK_HOME", ".grok"), "config.toml", Layout::Toml)],
        project: &[at(Base::Project, ".grok/config.toml", Layout::Toml)],
        syntax: Syntax::None,
    },
    App {
        id: "pi",
        name: "Pi",
        places: &[at(Base::Home, ".pi/agent/mcp.json", MCP_SERVERS)],
        project: &[at(Base::Project, ".pi/mcp.json", MCP_SERVERS)],
        syntax: Syntax::Dollar,
    },
    App {
        id: "mastra",
        name: "Mastra Code",
        places: &[at(Base::Home, ".mastracode/mcp.json", MCP_SERVERS)],
        project: &[at(Base::Project, ".mastracode/mcp.json", MCP_SERVERS)],
        syntax: Syntax::Dollar,
    },
];

/// Returns the app with this identifier or display name, ignoring case.
#[must_use]
pub fn app_named(name: &str) -> Option<&'static App> {
    APPS.iter().find(|app| app.id.eq_ignore_ascii_case(name) || app.name.eq_ignore_ascii_case(name))
}
