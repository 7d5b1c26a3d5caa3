//! Formats in which READMEs describe servers, with the servers in each. Used by `pasted.rs`.

/// A text in one format, and the expected servers: name, command, arguments, and variables.
pub(super) struct PastedExample {
    pub(super) what: &'static str,
    pub(super) text: &'static str,
    pub(super) servers: &'static [ExpectedServer],
}

type ExpectedServer = (&'static str, &'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

pub(super) const PASTED_EXAMPLES: &[PastedExample] = &[
    PastedExample {
        what: "the usual one",
        text: r#"{
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/Users/me/Desktop", "/srv/other"]
    }
  }
}"#,
        servers: &[(
            "filesystem",
            "npx",
            &["-y", "@modelcontextprotocol/server-filesystem", "/Users/me/Desktop", "/srv/other"],
            &[],
        )],
    },
    PastedExample {
        what: "several servers, variables",
        text: r#"{"mcpServers": {
            "git": {"command": "uvx", "args": ["mcp-server-git"]},
            "github": {"command": "docker", "args": ["run", "-i", "--rm", "-e", "GITHUB_TOKEN", "ghcr.io/github/github-mcp-server"], "env": {"GITHUB_TOKEN": "t"}}
        }}"#,
        servers: &[
            ("git", "uvx", &["mcp-server-git"], &[]),
            (
                "github",
                "docker",
                &["run", "-i", "--rm", "-e", "GITHUB_TOKEN", "ghcr.io/github/github-mcp-server"],
                &[("GITHUB_TOKEN", "t")],
            ),
        ],
    },
    PastedExample {
        what: "VS Code's, with comments and trailing commas",
        text: r#"// .vscode/mcp.json
{
  "inputs": [{"type": "promptString", "id": "key", "description": "API key", "password": true}],
  "servers": {
    /* the server */
    "perplexity": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "server-perplexity-ask",],
      "env": {"KEY": "${input:key}",},
    },
  },
}"#,
        servers: &[("perplexity", "npx", &["-y", "server-perplexity-ask"], &[("KEY", "${input:key}")])],
    },
    PastedExample {
        what: "VS Code's settings.json",
        text: r#"{"mcp": {"servers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}}"#,
        servers: &[("time", "uvx", &["mcp-server-time"], &[])],
    },
    PastedExample {
        what: "Zed's",
        text: r#"{"context_servers": {"pg": {"source": "custom", "command": "pg-mcp", "args": ["--db"], "env": {}}}}"#,
        servers: &[("pg", "pg-mcp", &["--db"], &[])],
    },
    PastedExample {
        what: "Zed's before",
        text: r#""context_servers": {"pg": {"command": {"path": "pg-mcp", "args": ["--db"], "env": {"A": "1"}}, "settings": {}}}"#,
        servers: &[("pg", "pg-mcp", &["--db"], &[("A", "1")])],
    },
    PastedExample {
        what: "OpenCode's",
        text: r#"{"$schema": "x", "mcp": {"everything": {"type": "local", "command": ["npx", "-y", "@modelcontextprotocol/server-everything"], "enabled": true, "environment": {"A": "1"}}}}"#,
        servers: &[("everything", "npx", &["-y", "@modelcontextprotocol/server-everything"], &[("A", "1")])],
    },
    PastedExample {
        what: "Amp's, with the program's name before the key",
        text: r#"{"amp.mcpServers": {"a": {"command": "a"}}}"#,
        servers: &[("a", "a", &[], &[])],
    },
    PastedExample {
        what: "one bare entry",
        text: r#"{"command": "npx", "args": ["-y", "@upstash/context7-mcp@latest"]}"#,
        servers: &[("context7", "npx", &["-y", "@upstash/context7-mcp@latest"], &[])],
    },
    PastedExample {
        what: "a bare entry with its name",
        text: r#"{"name": "My server", "command": "/opt/x", "env": {"PORT": 80, "DEBUG": true, "NONE": null}}"#,
        servers: &[("My server", "/opt/x", &[], &[("DEBUG", "true"), ("NONE", ""), ("PORT", "80")])],
    },
    PastedExample {
        what: "a fragment without the outer braces",
        text: r#""puppeteer": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-puppeteer"]
    },"#,
        servers: &[("puppeteer", "npx", &["-y", "@modelcontextprotocol/server-puppeteer"], &[])],
    },
    PastedExample {
        what: "a fragment with mcpServers, and a brace too many",
        text: "\"mcpServers\": {\n  \"a\": {\"command\": \"x\"}\n}\n}",
        servers: &[("a", "x", &[], &[])],
    },
    PastedExample {
        what: "a fragment of one entry",
        text: "\"command\": \"uvx\",\n\"args\": [\"mcp-server-fetch\"]",
        servers: &[("fetch", "uvx", &["mcp-server-fetch"], &[])],
    },
    PastedExample {
        what: "names with entries and nothing around",
        text: r#"{"a": {"command": "x"}, "b": {"command": "y", "cwd": "/srv"}}"#,
        servers: &[("a", "x", &[], &[]), ("b", "y", &[], &[])],
    },
    PastedExample {
        what: "a list of servers",
        text: r#"{"mcpServers": [{"name": "a", "command": "x"}, {"command": "uvx", "args": ["mcp-server-git"]}]}"#,
        servers: &[("a", "x", &[], &[]), ("git", "uvx", &["mcp-server-git"], &[])],
    },
    PastedExample {
        what: "prose around the JSON",
        text: "Add this to your claude_desktop_config.json:\n\n{\n  \"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": [\"}\", \"//\"]}}\n}\n\nThen restart {Claude}.",
        servers: &[("a", "x", &["}", "//"], &[])],
    },
    PastedExample {
        what: "a page of Markdown with ways to choose from",
        text: "# Server\n\nInstall it:\n\n```bash\nnpm install -g server-memory\n```\n\n### NPX\n\n```json\n{\"mcpServers\": {\"memory\": {\"command\": \"npx\", \"args\": [\"-y\", \"server-memory\"]}}}\n```\n\n### Docker\n\n  ~~~json\n{\"mcpServers\": {\"memory\": {\"command\": \"docker\", \"args\": [\"run\", \"-i\", \"mcp/memory\"]}}}\n  ~~~\n\nTry it: \n```sh\nnpx server-memory\n```\n",
        servers: &[
            ("memory", "npx", &["-y", "server-memory"], &[]),
            ("memory-2", "docker", &["run", "-i", "mcp/memory"], &[]),
        ],
    },
    PastedExample {
        what: "a quoted fence without an end, with the same server twice",
        text: "```json\n{\"a\": {\"command\": \"x\"}}\n```\n````jsonc\n{\"a\": {\"command\": \"x\"}}\n",
        servers: &[("a", "x", &[], &[])],
    },
    PastedExample {
        what: "Markdown with nothing but a command",
        text: "Run:\n```\nnpm i\n```\nand\n```\n$ npx -y mcp-hello@1.2.3 --flag\n```",
        servers: &[("hello", "npx", &["-y", "mcp-hello@1.2.3", "--flag"], &[])],
    },
    PastedExample {
        what: "claude mcp add",
        text: "claude mcp add airtable -s user -e AIRTABLE_API_KEY=k -e B=2 -- npx -y airtable-mcp-server --env x",
        servers: &[(
            "airtable",
            "npx",
            &["-y", "airtable-mcp-server", "--env", "x"],
            &[("AIRTABLE_API_KEY", "k"), ("B", "2")],
        )],
    },
    PastedExample {
        what: "claude mcp add with options first, over several lines, after an installation",
        text: "# install\npip install x\nclaude mcp add --transport stdio --env KEY=v my-server \\\n  -- uvx x \\\n  --verbose",
        servers: &[("my-server", "uvx", &["x", "--verbose"], &[("KEY", "v")])],
    },
    PastedExample {
        what: "claude mcp add without the dashes",
        text: "$ claude mcp add playwright npx @playwright/mcp@latest --headless",
        servers: &[("playwright", "npx", &["@playwright/mcp@latest", "--headless"], &[])],
    },
    PastedExample {
        what: "claude mcp add-json",
        text: r#"claude mcp add-json -s user weather '{"type":"stdio","command":"/opt/weather","args":["--key","a b"]}'"#,
        servers: &[("weather", "/opt/weather", &["--key", "a b"], &[])],
    },
    PastedExample {
        what: "codex mcp add",
        text: "codex mcp add docs --env A=1 -- npx -y docs-mcp",
        servers: &[("docs", "npx", &["-y", "docs-mcp"], &[("A", "1")])],
    },
    PastedExample {
        what: "code --add-mcp",
        text: r#"code --add-mcp '{"name":"play","command":"npx","args":["@playwright/mcp"]}'"#,
        servers: &[("play", "npx", &["@playwright/mcp"], &[])],
    },
    PastedExample {
        what: "a command line",
        text: "  npx -y @modelcontextprotocol/server-filesystem '/home/me/my files'\n",
        servers: &[("filesystem", "npx", &["-y", "@modelcontextprotocol/server-filesystem", "/home/me/my files"], &[])],
    },
    PastedExample {
        what: "a command line with variables",
        text: "API_KEY=\"a b\" LOG=1 uvx --from git+https://github.com/a/b serena",
        servers: &[(
            "b",
            "uvx",
            &["--from", "git+https://github.com/a/b", "serena"],
            &[("API_KEY", "a b"), ("LOG", "1")],
        )],
    },
    PastedExample {
        what: "docker run",
        text: "docker run --rm -i --mount type=bind,src=/a,dst=/b -e KEY mcp/fetch:latest --x",
        servers: &[(
            "fetch",
            "docker",
            &["run", "--rm", "-i", "--mount", "type=bind,src=/a,dst=/b", "-e", "KEY", "mcp/fetch:latest", "--x"],
            &[],
        )],
    },
    PastedExample {
        what: "a script in its folder",
        text: "node /srv/weather-server/build/index.js",
        servers: &[("weather", "node", &["/srv/weather-server/build/index.js"], &[])],
    },
    PastedExample {
        what: "a module of Python",
        text: "python -m mcp_server_time --local-timezone=Europe/Berlin",
        servers: &[("time", "python", &["-m", "mcp_server_time", "--local-timezone=Europe/Berlin"], &[])],
    },
    PastedExample {
        what: "a program of Windows in JSON",
        text: r#"{"mcpServers":{"w":{"command":"cmd","args":["/c","npx","-y","x"]},"p":{"command":"C:\\Program Files\\p.exe"}}}"#,
        servers: &[("w", "cmd", &["/c", "npx", "-y", "x"], &[]), ("p", "C:\\Program Files\\p.exe", &[], &[])],
    },
    PastedExample {
        what: "arguments in the command",
        text: r#"{"mcpServers": {"a": {"command": "npx -y 'my pkg'"}}}"#,
        servers: &[("a", "npx", &["-y", "my pkg"], &[])],
    },
    PastedExample {
        what: "a mark before the text, and line ends of Windows",
        text: "\u{feff}{\r\n\"mcpServers\": {\r\n\"a\": {\"command\": \"x\"}}}\r\n",
        servers: &[("a", "x", &[], &[])],
    },
];
