//! Install links of apps as documented by their makers, with the servers in each. Used by `links.rs`.

/// A text, and the expected servers: name, transport if specified, command line or URL, and variables or headers.
pub(super) struct LinkExample {
    pub(super) what: &'static str,
    pub(super) text: &'static str,
    pub(super) servers: &'static [&'static str],
}

pub(super) const LINK_EXAMPLES: &[LinkExample] = &[
    LinkExample {
        what: "Drawbridge's, base64 for URLs without padding",
        text: r##"drawbridge://mcp/install?name=files&config=eyJjb21tYW5kIjoibnB4IiwiYXJncyI6WyIteSIsIkBhY21lL2ZpbGVzIiwiL3Nydi_DvD8-fiJdfQ"##,
        servers: &[r##"files: npx -y @acme/files '/srv/ü?>~' {}"##],
    },
    LinkExample {
        what: "Drawbridge's, plain base64 with padding, its signs encoded",
        text: r##"drawbridge://mcp/install?config=eyJjb21tYW5kIjoibnB4IiwiYXJncyI6WyIteSIsIkBhY21lL2ZpbGVzIiwiL3Nydi%2FDvD8%2BfiJdfQ%3D%3D&name=files"##,
        servers: &[r##"files: npx -y @acme/files '/srv/ü?>~' {}"##],
    },
    LinkExample {
        what: "Drawbridge's, plain base64 as it is",
        text: r##"drawbridge://mcp/install?name=files&config=eyJjb21tYW5kIjoibnB4IiwiYXJncyI6WyIteSIsIkBhY21lL2ZpbGVzIiwiL3Nydi/DvD8+fiJdfQ=="##,
        servers: &[r##"files: npx -y @acme/files '/srv/ü?>~' {}"##],
    },
    LinkExample {
        what: "Drawbridge's, remote",
        text: r##"drawbridge://mcp/install?name=far&config=eyJ1cmwiOiJodHRwczovL21jcC5leGFtcGxlLmNvbS9tY3AiLCJoZWFkZXJzIjp7IlgtVGVhbSI6InJlZCJ9LCJ0eXBlIjoiaHR0cCJ9"##,
        servers: &[r##"far: http https://mcp.example.com/mcp {"X-Team":"red"}"##],
    },
    LinkExample {
        what: "VS Code's",
        text: r##"vscode:mcp/install?%7B%22name%22%3A%22files%22%2C%22command%22%3A%22npx%22%2C%22args%22%3A%5B%22-y%22%2C%22%40acme%2Ffiles%22%2C%22%2Fsrv%2F%C3%BC%3F%3E~%22%5D%7D"##,
        servers: &[r##"files: npx -y @acme/files '/srv/ü?>~' {}"##],
    },
    LinkExample {
        what: "VS Code's, of the insiders, in capitals",
        text: r##"VSCODE-insiders:mcp/install?%7B%22name%22%3A%22far%22%2C%22type%22%3A%22http%22%2C%22url%22%3A%22https%3A%2F%2Fmcp.example.com%2Fmcp%22%2C%22headers%22%3A%7B%22X-Team%22%3A%22red%22%7D%7D"##,
        servers: &[r##"far: http https://mcp.example.com/mcp {"X-Team":"red"}"##],
    },
    LinkExample {
        what: "that of VS Code, not encoded",
        text: r##"vscode:mcp/install?{"name": "env", "command": "uvx", "args": ["acme"], "env": {"REGION": "eu"}}"##,
        servers: &[r##"env: uvx acme {"REGION":"eu"}"##],
    },
    LinkExample {
        what: "VS Code's, with what it asks for",
        text: r##"vscode:mcp/install?%7B%22name%22%3A%22env%22%2C%22gallery%22%3Atrue%2C%22inputs%22%3A%5B%7B%22id%22%3A%22k%22%2C%22type%22%3A%22promptString%22%2C%22description%22%3A%22Key%22%2C%22password%22%3Atrue%7D%5D%2C%22command%22%3A%22uvx%22%2C%22args%22%3A%5B%22acme%22%5D%2C%22env%22%3A%7B%22KEY%22%3A%22%24%7Binput%3Ak%7D%22%7D%7D"##,
        servers: &[r##"env: uvx acme {"KEY":"${input:k}"}"##],
    },
    LinkExample {
        what: "VS Code's page",
        text: r##"https://vscode.dev/redirect/mcp/install?name=env&config=%7B%22command%22%3A%22uvx%22%2C%22args%22%3A%5B%22acme%22%5D%2C%22env%22%3A%7B%22REGION%22%3A%22eu%22%7D%7D&inputs=%5B%7B%22id%22%3A%22x%22%7D%5D"##,
        servers: &[r##"env: uvx acme {"REGION":"eu"}"##],
    },
    LinkExample {
        what: "VS Code's page of the insiders",
        text: r##"https://insiders.vscode.dev/redirect/mcp/install?name=env&config=%7B%22command%22%3A%22uvx%22%2C%22args%22%3A%5B%22acme%22%5D%2C%22env%22%3A%7B%22REGION%22%3A%22eu%22%7D%7D&quality=insiders"##,
        servers: &[r##"env: uvx acme {"REGION":"eu"}"##],
    },
    LinkExample {
        what: "VS Code's page that leads to a link",
        text: r##"https://insiders.vscode.dev/redirect?url=vscode%3Amcp%2Finstall%3F%257B%2522name%2522%253A%2522env%2522%252C%2522command%2522%253A%2522uvx%2522%252C%2522args%2522%253A%255B%2522acme%2522%255D%252C%2522env%2522%253A%257B%2522REGION%2522%253A%2522eu%2522%257D%257D"##,
        servers: &[r##"env: uvx acme {"REGION":"eu"}"##],
    },
    LinkExample {
        what: "VS Code's command line",
        text: r##"code --add-mcp '{"name":"env","command":"uvx","args":["acme"],"env":{"REGION":"eu"}}'"##,
        servers: &[r##"env: uvx acme {"REGION":"eu"}"##],
    },
    LinkExample {
        what: "Cursor's",
        text: r##"cursor://anysphere.cursor-deeplink/mcp/install?name=env&config=eyJjb21tYW5kIjoidXZ4IiwiYXJncyI6WyJhY21lIl0sImVudiI6eyJSRUdJT04iOiJldSJ9fQ%3D%3D"##,
        servers: &[r##"env: uvx acme {"REGION":"eu"}"##],
    },
    LinkExample {
        what: "Cursor's page",
        text: r##"https://cursor.com/install-mcp?name=far&config=eyJ1cmwiOiJodHRwczovL21jcC5leGFtcGxlLmNvbS9tY3AiLCJoZWFkZXJzIjp7IlgtVGVhbSI6InJlZCJ9fQ=="##,
        servers: &[r##"far: https://mcp.example.com/mcp {"X-Team":"red"}"##],
    },
    LinkExample {
        what: "Cursor's page before, with a language",
        text: r##"https://cursor.com/en/install-mcp?name=far&config=eyJ1cmwiOiJodHRwczovL21jcC5leGFtcGxlLmNvbS9tY3AiLCJoZWFkZXJzIjp7IlgtVGVhbSI6InJlZCJ9fQ=="##,
        servers: &[r##"far: https://mcp.example.com/mcp {"X-Team":"red"}"##],
    },
    LinkExample {
        what: "Cursor's, the whole command in one text",
        text: r##"cursor://anysphere.cursor-deeplink/mcp/install?name=one&config=eyJjb21tYW5kIjoibnB4IC15IEBhY21lL2ZpbGVzICdhIGInIn0="##,
        servers: &[r##"one: npx -y @acme/files 'a b' {}"##],
    },
    LinkExample {
        what: "Cursor's, a map as in its settings",
        text: r##"cursor://anysphere.cursor-deeplink/mcp/install?name=env&config=eyJvdGhlciI6eyJjb21tYW5kIjoidXZ4IiwiYXJncyI6WyJhY21lIl0sImVudiI6eyJSRUdJT04iOiJldSJ9fX0="##,
        servers: &[r##"env: uvx acme {"REGION":"eu"}"##],
    },
    LinkExample {
        what: "LM Studio's",
        text: r##"lmstudio://add_mcp?name=env&config=eyJjb21tYW5kIjoidXZ4IiwiYXJncyI6WyJhY21lIl0sImVudiI6eyJSRUdJT04iOiJldSJ9fQ%3D%3D"##,
        servers: &[r##"env: uvx acme {"REGION":"eu"}"##],
    },
    LinkExample {
        what: "LM Studio's page",
        text: r##"https://lmstudio.ai/install-mcp?name=env&config=eyJjb21tYW5kIjoidXZ4IiwiYXJncyI6WyJhY21lIl0sImVudiI6eyJSRUdJT04iOiJldSJ9fQ=="##,
        servers: &[r##"env: uvx acme {"REGION":"eu"}"##],
    },
    LinkExample {
        what: "goose's",
        text: r##"goose://extension?cmd=uvx&arg=acme&arg=--dir%3Da+b&id=acme&name=Acme%20Files&description=Files&env=API_KEY%3DYour%20key&env=REGION&timeout=30"##,
        servers: &[r##"Acme-Files: uvx acme '--dir=a b' {"API_KEY":"","REGION":""}"##],
    },
    LinkExample {
        what: "goose's, remote",
        text: r##"goose://extension?url=https%3A%2F%2Fmcp.example.com%2Fmcp&type=streamable_http&header=X-Team%3Dred&name=far"##,
        servers: &[r##"far: http https://mcp.example.com/mcp {"X-Team":"red"}"##],
    },
    LinkExample {
        what: "goose's page",
        text: r##"https://goose-docs.ai/extension?cmd=uvx&arg=acme&name=env"##,
        servers: &[r##"env: uvx acme {}"##],
    },
    LinkExample {
        what: "Cherry Studio's, one server",
        text: r##"cherrystudio://mcp/install?servers=eyJuYW1lIjoiZW52IiwiaXNBY3RpdmUiOnRydWUsImNvbW1hbmQiOiJ1dngiLCJhcmdzIjpbImFjbWUiXSwiZW52Ijp7IlJFR0lPTiI6ImV1In19"##,
        servers: &[r##"env: uvx acme {"REGION":"eu"}"##],
    },
    LinkExample {
        what: "Cherry Studio's, a list",
        text: r##"cherrystudio://mcp/install?servers=W3sibmFtZSI6ImVudiIsImNvbW1hbmQiOiJ1dngiLCJhcmdzIjpbImFjbWUiXSwiZW52Ijp7IlJFR0lPTiI6ImV1In19LHsibmFtZSI6ImZhciIsInR5cGUiOiJzdHJlYW1hYmxlSHR0cCIsImJhc2VVcmwiOiJodHRwczovL21jcC5leGFtcGxlLmNvbS9tY3AiLCJoZWFkZXJzIjp7IlgtVGVhbSI6InJlZCJ9LCJjb21tYW5kIjoiIn1d"##,
        servers: &[r##"env: uvx acme {"REGION":"eu"}"##, r##"far: http https://mcp.example.com/mcp {"X-Team":"red"}"##],
    },
    LinkExample {
        what: "Cherry Studio's, a map",
        text: r##"cherrystudio://mcp/install?servers=eyJtY3BTZXJ2ZXJzIjp7ImVudiI6eyJjb21tYW5kIjoidXZ4IiwiYXJncyI6WyJhY21lIl0sImVudiI6eyJSRUdJT04iOiJldSJ9fSwiZmFyIjp7InVybCI6Imh0dHBzOi8vbWNwLmV4YW1wbGUuY29tL21jcCIsImhlYWRlcnMiOnsiWC1UZWFtIjoicmVkIn19fX0="##,
        servers: &[r##"env: uvx acme {"REGION":"eu"}"##, r##"far: https://mcp.example.com/mcp {"X-Team":"red"}"##],
    },
    LinkExample {
        what: "DeepChat's",
        text: r##"deepchat://mcp/install?code=eyJtY3BTZXJ2ZXJzIjp7ImVudiI6eyJjb21tYW5kIjoidXZ4IiwiYXJncyI6WyJhY21lIl0sImVudiI6eyJSRUdJT04iOiJldSJ9LCJhdXRvQXBwcm92ZSI6WyJhbGwiXSwiaWNvbnMiOiJ4In19fQ=="##,
        servers: &[r##"env: uvx acme {"REGION":"eu"}"##],
    },
    LinkExample {
        what: "5ire's",
        text: r##"5ire://install-server/#eyJuYW1lIjoiZW52IiwiY29tbWFuZCI6InV2eCIsImFyZ3MiOlsiYWNtZSJdLCJlbnYiOnsiUkVHSU9OIjoiZXUifX0="##,
        servers: &[r##"env: uvx acme {"REGION":"eu"}"##],
    },
    LinkExample {
        what: "5ire's, before",
        text: r##"5ire://install-tool#eyJuYW1lIjoiZW52IiwiY29tbWFuZCI6InV2eCIsImFyZ3MiOlsiYWNtZSJdLCJlbnYiOnsiUkVHSU9OIjoiZXUifX0="##,
        servers: &[r##"env: uvx acme {"REGION":"eu"}"##],
    },
    LinkExample {
        what: "Tome's",
        text: r##"tome://mcp/install?%7B%22name%22%3A%22env%22%2C%22command%22%3A%22uvx%22%2C%22args%22%3A%5B%22acme%22%5D%2C%22env%22%3A%7B%22REGION%22%3A%22eu%22%7D%7D"##,
        servers: &[r##"env: uvx acme {"REGION":"eu"}"##],
    },
    LinkExample {
        what: "Chatbox's",
        text: r##"chatbox://mcp/install?server=eyJuYW1lIjoiZGVlcHdpa2kiLCJ1cmwiOiJodHRwczovL21jcC5kZWVwd2lraS5jb20vbWNwIn0="##,
        servers: &[r##"deepwiki: https://mcp.deepwiki.com/mcp {}"##],
    },
    LinkExample {
        what: "Hermes's",
        text: r##"hermes://mcp/install?name=env&config=eyJjb21tYW5kIjoidXZ4IiwiYXJncyI6WyJhY21lIl0sImVudiI6eyJSRUdJT04iOiJldSJ9fQ"##,
        servers: &[r##"env: uvx acme {"REGION":"eu"}"##],
    },
    LinkExample {
        what: "badges on a page, for several apps",
        text: r##"# Acme

Reads (some) files.

[![Add to Cursor](https://cursor.com/deeplink/mcp-install-dark.svg)](https://cursor.com/install-mcp?name=env&config=eyJjb21tYW5kIjoidXZ4IiwiYXJncyI6WyJhY21lIl0sImVudiI6eyJSRUdJT04iOiJldSJ9fQ==)
[![VS Code](https://img.shields.io/badge/x)](https://vscode.dev/redirect/mcp/install?name=env&config=%7B%22command%22%3A%22uvx%22%2C%22args%22%3A%5B%22acme%22%5D%2C%22env%22%3A%7B%22REGION%22%3A%22eu%22%7D%7D) <a href="https://vscode.dev/redirect/mcp/install?name=env&config=%7B%22command%22%3A%22uvx%22%2C%22args%22%3A%5B%22acme%22%5D%2C%22env%22%3A%7B%22REGION%22%3A%22eu%22%7D%7D"><img></a>
"##,
        servers: &[r##"env: uvx acme {"REGION":"eu"}"##],
    },
    LinkExample {
        what: "two links, one a line",
        text: r##"https://cursor.com/install-mcp?name=env&config=eyJjb21tYW5kIjoidXZ4IiwiYXJncyI6WyJhY21lIl0sImVudiI6eyJSRUdJT04iOiJldSJ9fQ==
drawbridge://mcp/install?name=far&config=eyJ1cmwiOiJodHRwczovL21jcC5leGFtcGxlLmNvbS9tY3AiLCJoZWFkZXJzIjp7IlgtVGVhbSI6InJlZCJ9fQ
"##,
        servers: &[r##"env: uvx acme {"REGION":"eu"}"##, r##"far: https://mcp.example.com/mcp {"X-Team":"red"}"##],
    },
    LinkExample {
        what: "settings next to badges",
        text: r##"[Cursor](https://cursor.com/install-mcp?name=env&config=eyJjb21tYW5kIjoidXZ4IiwiYXJncyI6WyJhY21lIl0sImVudiI6eyJSRUdJT04iOiJldSJ9fQ==)

```json
{"mcpServers": {"own": {"command": "x"}}}
```
"##,
        servers: &[r##"own: x {}"##],
    },
];
