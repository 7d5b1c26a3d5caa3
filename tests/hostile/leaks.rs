//! Collects everything that the app writes, logs or sends to the page, to search it for secrets.

use std::path::Path;

use testkit::app::TestApp;

use crate::log;

/// Returns all texts in which a secret could be: the activity log of a server, the data sent to the page, the log, and
/// every file of the app. Each has a name that says where it is from.
pub(crate) async fn texts_searched_for_secrets(app: &TestApp, server: &str) -> Vec<(String, String)> {
    let snapshot = app.host.snapshot().await.unwrap();
    let mut places = vec![
        ("the activity".to_owned(), app.activity(server).await),
        ("the data sent to the page".to_owned(), format!("{:?} {:?}", snapshot.servers, snapshot.consent_requests)),
        ("the log".to_owned(), log::recorded_log_text()),
    ];
    add_file_contents(app.folder.path(), &mut places);
    places
}

/// Adds the path and the content of every file in a folder and its subfolders to `places`.
pub(crate) fn add_file_contents(folder: &Path, places: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            add_file_contents(&path, places);
        } else if let Ok(bytes) = std::fs::read(&path) {
            // A file may be removed while the folder is read.
            places.push((path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
}

/// Returns the name of the first of these places whose text contains a secret, or `None` if no text does.
pub(crate) fn find_secret<'a>(places: &'a [(String, String)], secret: &str) -> Option<&'a str> {
    places.iter().find(|(_, text)| text.contains(secret)).map(|(place, _)| place.as_str())
}
