//! The apps whose settings are read: where they keep them, in what format, and under which key. One row for each; a new app is a new row.

mod places;

use crate::surroundings::System;
use crate::variables::Syntax;
pub(crate) use places::{fits_pattern, place_of};

/// An app.
#[derive(Debug, Clone, Copy)]
pub struct App {
    /// Its name on the command line.
    pub id: &'static str,
    /// Its name as its maker writes it.
    pub name: &'static str,
    /// Its own files.
    pub places: &'static [Place],
    /// Its files in a project.
    pub project: &'static [Place],
    /// How it refers to variables.
    pub syntax: Syntax,
}

/// A file, or each file in a folder.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// The folder that the path is below.
    pub base: Base,
    /// The path, with slashes. A last part such as `*.json` stands for each such file, and another `*` for each folder.
    pub path: &'static str,
    /// How the servers lie in it.
    pub layout: Layout,
}

/// A folder that settings lie in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// The home folder, on every system.
    Home,
    /// The home folder of one system.
    HomeOn(System),
    /// `XDG_CONFIG_HOME`, or `.config` at home, on every system.
    Config,
    /// The same, except on Windows.
    ConfigOffWindows,
    /// The same, only on Linux.
    ConfigOnLinux,
    /// `Library/Application Support` of macOS.
    ApplicationSupport,
    /// The roaming folder of Windows.
    AppData,
    /// The local folder of Windows.
    LocalAppData,
    /// The folder that a variable names, or this one at home.
    Variable(&'static str, &'static str),
    /// A project.
    Project,
}

/// How servers lie in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// An object of servers under one of these keys.
    Keys(&'static [&'static str]),
    /// The same, or the whole file is that object.
    KeysOrBare(&'static [&'static str]),
    /// Under one of these keys in settings about much else, where it may be missing.
    Settings(&'static [&'static str]),
    /// `mcpServers`, and `projects.*.mcpServers`, in a file that grows to many megabytes.
    ClaudeState,
    /// `mcp`, or `mcp.servers`, which wins.
    OpenCode,
    /// TOML: `mcp_servers`.
    Toml,
    /// YAML: `extensions`.
    Goose,
    /// YAML: `mcpServers`, a list. A JSON file beside it is as those of other apps.
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

/// A file of VS Code's user folder, on each system and in both editions.
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

/// All apps.
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

/// The app with this id or name.
#[must_use]
pub fn app_named(name: &str) -> Option<&'static App> {
    APPS.iter().find(|app| app.id.eq_ignore_ascii_case(name) || app.name.eq_ignore_ascii_case(name))
}
