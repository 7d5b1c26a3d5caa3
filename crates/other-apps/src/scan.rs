//! Looks for servers in the settings of other apps. Nothing is started, and nothing is written.

mod turned_off;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf, absolute};

use ports::server_config::{ConfigProblem, ServerEntry};

use crate::apps::{APPS, App, Layout, Place, app_named, place_of};
use crate::found::{FoundServer, Source, broken, found};
use crate::surroundings::Surroundings;
use crate::{files, merge, pasted, read};

/// Where to look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum From {
    /// In all apps.
    All,
    /// In one app, by its id or name.
    App(String),
    /// In one file, or in the files that a project folder has for apps.
    Path(PathBuf),
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRead {
    /// The app's id.
    pub app: &'static str,
    /// The file.
    pub file: String,
    /// How many servers are in it.
    pub servers: usize,
}

/// The servers of other apps.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The servers, merged over all files.
    pub servers: Vec<FoundServer>,
    /// The files that were read.
    pub files: Vec<FileRead>,
    /// What is wrong with files that could not be read.
    pub problems: Vec<ConfigProblem>,
}

/// The app of a file that belongs to none.
const UNKNOWN: &str = "file";
/// The app whose project files are not the only ones to say what is on.
const CLAUDE_CODE: &str = "claude-code";
/// The most servers in all files, and so the most that can be picked.
pub const MAX_SERVERS: usize = 5_000;

/// Looks for servers. `set_up` are those of the user, which the found ones are compared with.
///
/// # Errors
/// If there is no such app or file.
pub fn look(from: &From, surroundings: &Surroundings, set_up: &[ServerEntry]) -> Result<Report, ConfigProblem> {
    let mut scan = Scan {
        surroundings,
        roots: files::roots(surroundings),
        project: None,
        seen: BTreeSet::new(),
        found: Vec::new(),
        report: Report::default(),
    };
    match from {
        From::All => APPS.iter().for_each(|app| scan.app(app)),
        From::App(name) => scan.app(app_named(name).ok_or_else(|| no_such_app(name))?),
        From::Path(path) if path.is_dir() => scan.project(path),
        From::Path(path) => scan.path(path)?,
    }
    let mut report = scan.report;
    report.servers = merge::merge(scan.found, set_up);
    Ok(report)
}

fn no_such_app(name: &str) -> ConfigProblem {
    let known: Vec<&str> = APPS.iter().map(|app| app.id).collect();
    let message = format!("there is neither an app nor a file {name:?}; the apps are {}", known.join(", "));
    ConfigProblem { file: None, line: None, column: None, message }
}

struct Scan<'s> {
    surroundings: &'s Surroundings,
    roots: Vec<PathBuf>,
    /// The project folder, where one is looked at.
    project: Option<String>,
    seen: BTreeSet<PathBuf>,
    found: Vec<FoundServer>,
    report: Report,
}

impl Scan<'_> {
    fn app(&mut self, app: &'static App) {
        for place in app.places {
            for path in files::files_of(place, self.surroundings) {
                self.file(app, place, &path);
            }
        }
    }

    fn project(&mut self, folder: &Path) {
        // What a cloned repository has leads nowhere out of it.
        self.roots = folder.canonicalize().into_iter().collect();
        self.project = absolute(folder).ok().and_then(|folder| folder.to_str().map(str::to_owned));
        for app in APPS {
            for place in app.project {
                for path in files::matching(folder, place.path) {
                    self.file(app, place, &path);
                }
            }
        }
    }

    fn file(&mut self, app: &'static App, place: &Place, path: &Path) {
        // Two variables, or two apps, may lead to one file.
        if !self.seen.insert(path.to_owned()) {
            return;
        }
        let limit = if place.layout == Layout::ClaudeState { files::STATE_LIMIT } else { files::LIMIT };
        match files::read(path, limit, Some(&self.roots)) {
            Ok(None) => {}
            Ok(Some(text)) => self.take(Some(app), place.layout, path, &text),
            Err(problem) => self.report.problems.push(problem),
        }
    }

    /// A file that the user names. It is read as the app of its path writes it, or else by its content.
    fn path(&mut self, path: &Path) -> Result<(), ConfigProblem> {
        let place = place_of(path);
        let limit = if place.is_some_and(|(_, place)| place.layout == Layout::ClaudeState) {
            files::STATE_LIMIT
        } else {
            files::LIMIT
        };
        let Some(text) = files::read(path, limit, None)? else {
            return Err(files::problem(path, "there is no such file"));
        };
        let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default().to_ascii_lowercase();
        match (place, end.as_str()) {
            (Some((app, place)), _) => self.take(Some(app), place.layout, path, &text),
            (None, "toml") => self.take(None, Layout::Toml, path, &text),
            (None, "yaml" | "yml") if text.lines().any(|line| line.starts_with("extensions:")) => {
                self.take(None, Layout::Goose, path, &text);
            }
            (None, "yaml" | "yml") => self.take(None, Layout::Continue, path, &text),
            _ => {
                let shown = path.display().to_string();
                let source = Source { app: None, id: UNKNOWN, file: &shown, project: None };
                let candidates = pasted::candidates(&text)
                    .map_err(|problem| ConfigProblem { file: Some(shown.clone()), ..problem })?;
                let names = |file: &str| self.variable_names(path, file);
                let servers: Vec<FoundServer> = candidates
                    .into_iter()
                    .map(|candidate| found(candidate, source, self.surroundings, &names))
                    .collect();
                self.add(UNKNOWN, path, servers);
            }
        }
        // A file that the user named and that can't be read is no success.
        self.report.problems.pop().map_or(Ok(()), Err)
    }

    fn take(&mut self, app: Option<&'static App>, layout: Layout, path: &Path, text: &str) {
        let shown = path.display().to_string();
        let id = app.map_or(UNKNOWN, |app| app.id);
        let entries = match read::entries(text, &shown, app, layout) {
            Ok(entries) => entries,
            Err(problem) => return self.report.problems.push(problem),
        };
        let source = Source { app, id, file: &shown, project: self.project.as_deref() };
        let names = |file: &str| self.variable_names(path, file);
        let servers = entries.into_iter().map(|entry| match entry.read {
            Ok(candidate) => found(candidate, source, self.surroundings, &names),
            Err(problem) => broken(entry.name, &problem, source),
        });
        let mut servers: Vec<FoundServer> = servers.collect();
        if id == CLAUDE_CODE {
            self.turn_off(path, &mut servers);
        }
        self.add(id, path, servers);
    }

    fn add(&mut self, app: &'static str, path: &Path, servers: Vec<FoundServer>) {
        if self.found.len() + servers.len() > MAX_SERVERS {
            let message = format!("it was passed over: there are more than {MAX_SERVERS} servers in all");
            return self.report.problems.push(files::problem(path, message));
        }
        self.report.files.push(FileRead { app, file: path.display().to_string(), servers: servers.len() });
        self.found.extend(servers);
    }

    /// The names of the variables in a file that an entry names. It must lie in the home folder, or beside the settings.
    fn variable_names(&self, settings: &Path, file: &str) -> Option<Vec<String>> {
        let path = match file.strip_prefix("~/") {
            Some(rest) => self.surroundings.home.join(rest),
            None => settings.parent()?.join(file),
        };
        let text = files::read(&path, files::LIMIT, Some(&self.roots)).ok()??;
        // A key file has lines that end with this sign.
        (!text.contains("-----BEGIN ")).then(|| files::variable_names(&text))
    }
}
