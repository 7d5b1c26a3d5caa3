//! Parses files and links from the command line.
//!
//! The arguments of a second instance are passed on unchanged, and any program may have started it. An argument is
//! classified by its text, and then by the metadata of the file. The file is not opened.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use installer::BUNDLE_EXTENSIONS;
use tauri::Url;

use crate::opening_request::{OpeningRefusal, OpeningRequest};

/// Scheme of Drawbridge's links, with its colon. Compared without case (RFC 3986, section 3.1).
const LINK_SCHEME: &str = "drawbridge:";
/// Prefix of links that install a server. `other-apps` parses the text of the link, and would parse text without this
/// prefix as pasted settings.
const INSTALL_LINK_PREFIX: &str = "drawbridge://mcp/install?";
/// Maximum length of a link in bytes, equal to the limit in `other-apps`.
const MAX_LINK_BYTES: usize = 32 << 10;
/// Maximum number of arguments that are examined. Further arguments are ignored.
const MAX_EXAMINED_COMMAND_LINE_ARGUMENTS: usize = 64;
/// Maximum number of characters of a rejected file path or link that are displayed.
const MAX_DISPLAYED_ARGUMENT_CHARS: usize = 300;

/// A file or link that the user or another program asked Drawbridge to open, before it is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OpenArgument {
    /// Path of a file. It is unknown if the file exists.
    File(PathBuf),
    /// A link with any scheme.
    Link(String),
}

/// Returns the files and links in the arguments of a process, without the program name and options. Relative paths are
/// resolved against `folder`.
pub(crate) fn parse_arguments(arguments: impl Iterator<Item = OsString>, folder: &Path) -> Vec<OpenArgument> {
    let mut has_options = true;
    let named = arguments.skip(1).filter_map(|argument| {
        if has_options && argument.as_encoded_bytes().starts_with(b"-") {
            has_options = argument != OsStr::new("--");
            return None;
        }
        Some(parse_argument(argument, folder))
    });
    named.take(MAX_EXAMINED_COMMAND_LINE_ARGUMENTS).collect()
}

/// Returns the files and links in the arguments of this process.
pub(crate) fn parse_process_arguments() -> Vec<OpenArgument> {
    parse_arguments(env::args_os(), &env::current_dir().unwrap_or_default())
}

fn parse_argument(argument: OsString, folder: &Path) -> OpenArgument {
    match argument.to_str() {
        Some(text) if text.contains("://") || starts_with_ignoring_case(text, LINK_SCHEME) => match file_url_path(text)
        {
            Some(path) => OpenArgument::File(path),
            None => OpenArgument::Link(text.to_owned()),
        },
        _ => OpenArgument::File(folder.join(argument)),
    }
}

fn file_url_path(text: &str) -> Option<PathBuf> {
    let url = Url::parse(text).ok().filter(|url| url.scheme() == "file")?;
    url.to_file_path().ok()
}

/// Returns the files and links in URLs that macOS passes to the app instead of arguments.
#[cfg_attr(not(target_os = "macos"), allow(dead_code, reason = "the other systems pass it in arguments"))]
pub(crate) fn parse_urls(urls: &[Url]) -> Vec<OpenArgument> {
    urls.iter()
        .take(MAX_EXAMINED_COMMAND_LINE_ARGUMENTS)
        .map(|url| parse_argument(url.as_str().into(), Path::new("/")))
        .collect()
}

fn starts_with_ignoring_case(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

impl OpenArgument {
    /// Checks the file or link, and returns the request for the page: to open it, or to report why it is rejected.
    /// Blocks while the file's metadata is read.
    pub(crate) fn classify(self, are_links_on: impl FnOnce() -> bool) -> OpeningRequest {
        match self {
            Self::File(path) => opening_request_for_file(&path),
            Self::Link(link) => match install_link_refusal(&link, are_links_on) {
                // The query and fragment of a link may contain secrets and are not displayed.
                Some(reason) => refused_opening_request(link.split(['?', '#']).next().unwrap_or_default(), reason),
                None => OpeningRequest::Link { link },
            },
        }
    }
}

fn install_link_refusal(link: &str, are_links_on: impl FnOnce() -> bool) -> Option<OpeningRefusal> {
    if link.len() > MAX_LINK_BYTES {
        Some(OpeningRefusal::LinkTooLong)
    } else if !starts_with_ignoring_case(link, INSTALL_LINK_PREFIX)
        || link.contains(|c: char| c.is_whitespace() || c.is_control())
    {
        Some(OpeningRefusal::NotAnInstallLink)
    } else if !are_links_on() {
        Some(OpeningRefusal::LinksOff)
    } else {
        None
    }
}

fn opening_request_for_file(path: &Path) -> OpeningRequest {
    let shown = path.to_string_lossy();
    let Some(text) = path.to_str() else { return refused_opening_request(&shown, OpeningRefusal::NotUnicode) };
    match fs::metadata(path) {
        // The arguments of a second instance arrive with invalid Unicode replaced.
        Err(error) if error.kind() == ErrorKind::NotFound && text.contains(char::REPLACEMENT_CHARACTER) => {
            refused_opening_request(text, OpeningRefusal::NotUnicode)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => refused_opening_request(text, OpeningRefusal::NotFound),
        Ok(facts) if !facts.is_file() => refused_opening_request(text, OpeningRefusal::NotAFile),
        _ if !has_bundle_name(path) => refused_opening_request(text, OpeningRefusal::NotABundle),
        // Other errors appear when the page reads the file.
        Ok(_) | Err(_) => OpeningRequest::Bundle { path: text.to_owned() },
    }
}

/// Returns `true` if the last component of a path has the file name extension of a bundle.
pub(crate) fn has_bundle_name(path: &Path) -> bool {
    let ending = path.extension();
    ending.is_some_and(|ending| BUNDLE_EXTENSIONS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

fn refused_opening_request(what: &str, reason: OpeningRefusal) -> OpeningRequest {
    let mut displayed: String = what.chars().take(MAX_DISPLAYED_ARGUMENT_CHARS).collect();
    if displayed.len() < what.len() {
        displayed.push('…');
    }
    OpeningRequest::Refused { what: displayed, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: &str = "drawbridge://mcp/install?name=notes&config=e30";

    fn parse_arguments_in_test_folder(arguments: &[&str]) -> Vec<OpenArgument> {
        let program = ["drawbridge"].into_iter().chain(arguments.iter().copied());
        parse_arguments(program.map(OsString::from), Path::new("/home/ann"))
    }

    fn file(path: &str) -> OpenArgument {
        OpenArgument::File(path.into())
    }

    fn link(text: &str) -> OpenArgument {
        OpenArgument::Link(text.to_owned())
    }

    fn refusal_of(opening: OpeningRequest) -> Option<OpeningRefusal> {
        match opening {
            OpeningRequest::Refused { reason, .. } => Some(reason),
            _ => None,
        }
    }

    #[test]
    fn files_and_links_are_parsed_from_the_command_line() {
        assert_eq!(parse_arguments_in_test_folder(&[]), [], "the program name should be ignored");
        assert_eq!(parse_arguments_in_test_folder(&["--background", "-x"]), [], "options should be ignored");
        assert_eq!(
            parse_arguments_in_test_folder(&["--background", "a.mcpb", "/b.dxt", "--", "-c.mcpb"]),
            [file("/home/ann/a.mcpb"), file("/b.dxt"), file("/home/ann/-c.mcpb")],
            "paths should be relative to the folder, and arguments after -- should not be options"
        );
        assert_eq!(
            parse_arguments_in_test_folder(&["file:///home/ann/My%20notes.mcpb"]),
            [file("/home/ann/My notes.mcpb")],
            "a file URL should be a file"
        );
        let links = [LINK, "DRAWBRIDGE:x", "cursor://anysphere.cursor-deeplink/mcp/install?x"];
        assert_eq!(parse_arguments_in_test_folder(&links), links.map(link), "links of any scheme should be recognized");
        assert_eq!(
            parse_arguments_in_test_folder(&["x"; 1_000]).len(),
            MAX_EXAMINED_COMMAND_LINE_ARGUMENTS,
            "the limit should apply"
        );
    }

    #[test]
    fn only_own_install_links_are_opened_if_links_are_on() {
        let opened = |text: &str, on: bool| link(text).classify(|| on);
        assert_eq!(
            opened(LINK, true),
            OpeningRequest::Link { link: LINK.to_owned() },
            "an install link should be opened"
        );
        let loud = LINK.replace("drawbridge", "DrawBridge");
        assert_eq!(
            opened(&loud, true),
            OpeningRequest::Link { link: loud.clone() },
            "the scheme should be case-insensitive"
        );
        assert_eq!(
            refusal_of(opened(LINK, false)),
            Some(OpeningRefusal::LinksOff),
            "links should be refused while they are off"
        );
        let others = [
            "drawbridge:mcp/install?name=a&config=e30",
            "drawbridge://mcp/start?name=a",
            "drawbridge://callback?code=1",
            "cursor://anysphere.cursor-deeplink/mcp/install?name=a&config=e30",
            "https://cursor.com/install-mcp?name=a&config=e30",
            "drawbridge://mcp/install?name=a b",
            "drawbridge://mcp/install?name=a\n{\"mcpServers\":{}}",
            "drawbridge://mcp/install?name=a\u{0}",
        ];
        for other in others {
            assert_eq!(refusal_of(opened(other, true)), Some(OpeningRefusal::NotAnInstallLink), "{other:?}");
        }
        let long = format!("{LINK}{}", "A".repeat(MAX_LINK_BYTES));
        assert_eq!(refusal_of(opened(&long, true)), Some(OpeningRefusal::LinkTooLong), "the limit should apply");
    }

    #[test]
    fn refused_link_is_shown_without_its_parameters() {
        let opening = link("drawbridge://mcp/install?config=secret token").classify(|| true);
        let what = "drawbridge://mcp/install".to_owned();
        assert_eq!(
            opening,
            OpeningRequest::Refused { what, reason: OpeningRefusal::NotAnInstallLink },
            "the parameters should not be displayed"
        );
        let OpeningRequest::Refused { what, .. } = link(&"x://".repeat(1_000)).classify(|| true) else {
            panic!("the link should be refused")
        };
        assert_eq!(what.chars().count(), MAX_DISPLAYED_ARGUMENT_CHARS + 1, "the text should be truncated");
    }

    #[test]
    fn existing_file_with_a_bundle_name_is_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["a.mcpb", "b.DXT", "c.txt", "mcpb"] {
            fs::write(at(name), "").expect("written");
        }
        fs::create_dir(at("folder.mcpb")).expect("a folder");
        let look = |name: &str| OpenArgument::File(at(name)).classify(|| true);
        for name in ["a.mcpb", "b.DXT"] {
            let path = at(name).to_str().expect("Unicode").to_owned();
            assert_eq!(look(name), OpeningRequest::Bundle { path }, "{name} should be accepted as a bundle");
        }
        let refusals = [
            ("c.txt", OpeningRefusal::NotABundle),
            ("mcpb", OpeningRefusal::NotABundle),
            ("none.mcpb", OpeningRefusal::NotFound),
            ("folder.mcpb", OpeningRefusal::NotAFile),
            ("n\u{FFFD}.mcpb", OpeningRefusal::NotUnicode),
        ];
        for (name, expected) in refusals {
            assert_eq!(refusal_of(look(name)), Some(expected), "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn special_files_are_refused_without_being_opened() {
        use std::os::unix::ffi::OsStringExt as _;
        use std::os::unix::net::UnixListener;
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let _socket = UnixListener::bind(at("socket.mcpb")).expect("a socket");
        std::os::unix::fs::symlink("/dev/zero", at("device.mcpb")).expect("a link");
        std::os::unix::fs::symlink("none", at("lost.mcpb")).expect("a link");
        let look = |path: PathBuf| refusal_of(OpenArgument::File(path).classify(|| true));
        assert_eq!(look(at("socket.mcpb")), Some(OpeningRefusal::NotAFile), "a socket");
        assert_eq!(look(at("device.mcpb")), Some(OpeningRefusal::NotAFile), "a link to an endless device");
        assert_eq!(look(at("lost.mcpb")), Some(OpeningRefusal::NotFound), "a link to nothing");
        let path = at("x").with_file_name(OsString::from_vec(b"n\xFF.mcpb".to_vec()));
        fs::write(&path, "").expect("written");
        assert_eq!(look(path), Some(OpeningRefusal::NotUnicode), "a name that is not Unicode");
    }
}
