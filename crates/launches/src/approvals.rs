//! Hashes and readable texts of approvals. The hash of an approval to start a server covers everything that decides
//! what is started. The text describes the command to start or the address to connect to. The hash of an address is
//! `address_hash` in `ports`.

use std::path::Path;

use policy::Hash;
use ports::server_config::{
    HttpConfig, ServerConfig, ServerTransport, StdioConfig, path_to_json, quote_command_word, stdio_hash,
};
use process::sandbox::ResolvedSandbox;
use process::{FileSizeAndTimes, LaunchFile, LaunchFileState, LaunchFiles};
use serde_json::{Value, json};

use crate::packages::LoadedPackage;

/// Returns the hash of everything that decides what runs: the configured command with the version of the package that
/// it loads, and the current state of the launch files. For a sandboxed server, the hash also covers the paths that the
/// sandbox makes accessible because of the program, such as its interpreter.
///
/// The default working directory is not a part of the hash. It follows from the absence of a configured one, which the
/// hash covers, and from the sandbox: it is the home of the sandbox, which only the server of the approval has, or else
/// the home of the user. A hash of its path would end every approval of a server without a configured one.
///
/// The hash of earlier versions did not include scripts, so a start that they approved requires a new approval.
pub fn command_hash(
    config: &StdioConfig,
    program: &Path,
    plan: Option<&ResolvedSandbox>,
    files: &LaunchFiles,
    package: Option<&LoadedPackage>,
) -> Hash {
    let folders: Vec<Value> = files.folders().iter().map(|folder| path_to_json(folder)).collect();
    let files: Vec<Value> = files.iter().map(launch_file_json).collect();
    let mut command = json!({ "command": stdio_hash(config), "program": path_to_json(program), "files": files });
    if !folders.is_empty() {
        command["folders"] = folders.into();
    }
    if let Some(plan) = plan {
        let reached: Vec<_> = plan.reach.program.iter().map(|path| path_to_json(path)).collect();
        command["reach"] = json!(reached);
    }
    if let Some(package) = package {
        command["package"] = package.to_json();
    }
    Hash::of_json(&command)
}

/// Returns path, canonical path and state of a launch file as JSON, from which the hash of an approval is computed.
fn launch_file_json(file: &LaunchFile) -> Value {
    let state = match &file.state {
        LaunchFileState::Content(hash) => json!(hash),
        LaunchFileState::SizeAndTimes(FileSizeAndTimes { bytes, modified, status_changed }) => {
            json!([bytes, modified.to_string(), status_changed])
        }
    };
    json!([path_to_json(&file.path), path_to_json(&file.real), state])
}

/// Returns the readable text of an approval to start this command or to connect to this address, including settings
/// such as the working directory or names of headers.
///
/// The text is stored in a file, so it contains no values that are likely to be secrets.
pub fn approval_text(config: &ServerConfig) -> String {
    match &config.transport {
        ServerTransport::Stdio(config) => command_text(config),
        ServerTransport::Http(config) => address_text(config),
    }
}

/// Returns the readable text of an approval to start this command. The texts of two commands differ if any part of the
/// commands differs, because a part with blanks or parentheses is quoted. The text contains no values of variables and
/// no state of files: only the hash of the approval covers those.
pub fn command_text(config: &StdioConfig) -> String {
    let mut words = config.command_line();
    if let Some(cwd) = &config.cwd {
        words = format!("{words} (in {})", quote_command_word(&cwd.to_string_lossy()));
    }
    if !config.env.is_empty() {
        let names: Vec<String> = config.env.keys().map(|name| quote_command_word(name)).collect();
        words = format!("{words} (with {})", names.join(", "));
    }
    if let Some(sandbox) = &config.sandbox {
        words = format!("{words}{SANDBOX_TEXT_PREFIX}{})", sandbox.to_json());
    }
    words
}

/// Text before the description of the sandbox in the readable text of an approval.
const SANDBOX_TEXT_PREFIX: &str = " (sandbox ";

/// Returns the readable text of an approval without the description of the sandbox. Consent requests show changes of
/// the sandbox separately.
pub fn strip_sandbox_text(words: &str) -> &str {
    words.rfind(SANDBOX_TEXT_PREFIX).filter(|_| words.ends_with("})")).map_or(words, |at| &words[..at])
}

/// Returns the readable text of an approval to connect to this address.
pub fn address_text(config: &HttpConfig) -> String {
    let names: Vec<&str> = config.headers.keys().map(String::as_str).collect();
    let url = config.redacted_url();
    if names.is_empty() { url } else { format!("{url} (with {})", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use ports::server_config::{AuthConfig, HttpKind, NetworkAccess, SandboxConfig, address_hash};

    use super::*;

    #[cfg(unix)]
    #[test]
    fn s16_non_utf8_paths_do_not_share_a_hash() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt as _;

        let config = StdioConfig { command: "server".into(), ..StdioConfig::default() };
        let path = |bytes: &'static [u8]| Path::new(OsStr::from_bytes(bytes));
        let (one, other) = (path(b"/opt/\xff/server"), path(b"/opt/\xfe/server"));
        assert_eq!(one.to_string_lossy(), other.to_string_lossy(), "the lossy texts of both paths are equal");
        let hash = |program: &Path| command_hash(&config, program, None, &LaunchFiles::default(), None);
        assert_ne!(hash(one), hash(other), "programs");
        let in_folder = |folder: &Path| stdio_hash(&StdioConfig { cwd: Some(folder.to_owned()), ..config.clone() });
        assert_ne!(in_folder(one), in_folder(other), "working directories must have different hashes");
        let with = |folder: &Path| {
            let folder = ports::server_config::AllowedFolder {
                path: folder.to_owned(),
                access: ports::server_config::AccessMode::Read,
            };
            let sandbox = ports::server_config::SandboxConfig { folders: vec![folder], network: NetworkAccess::None };
            stdio_hash(&StdioConfig { sandbox: Some(sandbox), ..config.clone() })
        };
        assert_ne!(with(one), with(other), "sandbox folders must have different hashes");
        assert_ne!(
            path_to_json(one),
            path_to_json(Path::new(r#"{"bytes":[]}"#)),
            "a path of text must differ from a path of bytes"
        );
    }

    #[test]
    fn s24_each_network_of_a_sandbox_has_its_own_hash_and_description() {
        let config = |network: NetworkAccess| {
            let sandbox = Some(SandboxConfig { network, ..SandboxConfig::default() });
            StdioConfig { command: "server".into(), sandbox, ..StdioConfig::default() }
        };
        let hosts = |hosts: &[&str]| {
            NetworkAccess::Hosts(hosts.iter().map(|host| host.parse().expect("the host is valid")).collect())
        };
        let networks = [
            NetworkAccess::None,
            hosts(&["example.com"]),
            hosts(&["*.example.com"]),
            hosts(&["example.com:8443"]),
            hosts(&["example.com", "example.org"]),
            NetworkAccess::Full,
        ];
        let hashes: std::collections::HashSet<_> =
            networks.iter().map(|network| stdio_hash(&config(network.clone())).as_str().to_owned()).collect();
        assert_eq!(hashes.len(), networks.len(), "S24: each network access must have its own hash");
        let words = command_text(&config(hosts(&["API.example.com"])));
        assert!(
            words.contains(r#""network":["api.example.com"]"#),
            "S24: the text of an approval must name the hosts: {words}"
        );
        let before = command_text(&config(NetworkAccess::Full));
        assert!(
            before.contains(r#""network":true"#),
            "the text of full network access must be the same as in older versions: {before}"
        );
    }

    #[test]
    fn s16_commands_with_different_parts_have_different_texts() {
        let text = |args: &[&str], cwd: Option<&str>, env: &[&str], sandbox: Option<SandboxConfig>| {
            command_text(&StdioConfig {
                command: "server".into(),
                args: args.iter().map(|&word| word.to_owned()).collect(),
                cwd: cwd.map(Into::into),
                env: env.iter().map(|&name| (name.to_owned(), String::new())).collect(),
                sandbox,
            })
        };
        let sandbox = Some(SandboxConfig::default());
        let confined = text(&[], Some("/srv"), &[], sandbox.clone());
        let folder = confined.trim_start_matches("server (in ").trim_end_matches(')');
        let texts = [
            text(&[], None, &[], None),
            text(&["a b"], None, &[], None),
            text(&["a", "b"], None, &[], None),
            text(&["'a", "b'"], None, &[], None),
            text(&[""], None, &[], None),
            text(&["(in /srv)"], None, &[], None),
            text(&["(in", "/srv)"], None, &[], None),
            text(&[], Some("/srv"), &[], None),
            text(&[], Some("/srv) (with A"), &[], None),
            text(&[], Some("/srv"), &["A"], None),
            text(&[], Some("/srv"), &["A, B"], None),
            text(&[], Some("/srv"), &["A", "B"], None),
            text(&[], None, &[], sandbox),
            text(&[], Some(folder), &[], None),
            confined.clone(),
        ];
        let different: std::collections::HashSet<&String> = texts.iter().collect();
        assert_eq!(different.len(), texts.len(), "{texts:#?}");
        assert_eq!(texts[7], "server (in /srv)", "a path without blanks is not quoted");
        let named = text(&[], Some("/srv (sandbox {}"), &[], None);
        assert_eq!(strip_sandbox_text(&named), named, "the name of a folder is not a sandbox");
        assert_eq!(strip_sandbox_text(&confined), "server (in /srv)");
    }

    #[test]
    fn any_change_of_an_address_changes_the_hash() {
        let base = HttpConfig {
            url: "https://example.com/mcp?key=s3cret".into(),
            headers: [("Authorization".to_owned(), "Bearer a".to_owned())].into(),
            kind: None,
            auth: None,
        };
        let mut others = vec![HttpConfig { url: "https://example.com/mcp?key=0ther".into(), ..base.clone() }];
        others.push(HttpConfig { kind: Some(HttpKind::Sse), ..base.clone() });
        others.push(HttpConfig { headers: [].into(), ..base.clone() });
        let auth = |scopes: &[&str]| {
            let scopes = scopes.iter().map(|&scope| scope.to_owned()).collect();
            Some(AuthConfig { scopes, ..AuthConfig::default() })
        };
        others.push(HttpConfig { auth: auth(&[]), ..base.clone() });
        others.push(HttpConfig { auth: auth(&["read"]), ..base.clone() });
        others
            .push(HttpConfig { headers: [("Authorization".to_owned(), "Bearer b".to_owned())].into(), ..base.clone() });
        for other in others {
            assert_ne!(address_hash(&other), address_hash(&base), "the hash must change with {other:?}");
            for value in ["Bearer", "s3cret", "0ther"] {
                assert!(
                    !address_text(&other).contains(value),
                    "the text must not contain values of headers and queries"
                );
            }
        }
    }
}
