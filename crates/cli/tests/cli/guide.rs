//! Test that runs the commands of the user guide that require only the demo server.

use serde_json::json;
use testkit::guide_examples::guide_examples;

use crate::program::{TestFolder, allowing_answers};

/// Prefixes of commands that this test does not run, each with the reason.
const GUIDE_COMMANDS_NOT_RUN: [(&str, &str); 16] = [
    ("audit verify", "needs a keychain to prove the log; tested in audit.rs"),
    ("watch", "runs until it is stopped; tested in signals.rs"),
    ("doctor", "its result depends on the computer; tested in doctor.rs"),
    ("registry", "contacts the official registry; tested in registry.rs with a local one"),
    ("install", "needs a registry or a bundle; tested in installs.rs"),
    ("bundle", "needs a bundle; tested in bundles.rs"),
    ("link", "needs a server named files; tested in import.rs"),
    ("sandbox", "needs a server named files; tested in rules.rs"),
    ("login", "needs a remote server; tested in sign_in.rs"),
    ("logout", "needs a remote server; tested in sign_in.rs"),
    ("auth", "needs a remote server; tested in sign_in.rs"),
    ("secret", "needs a remote server; tested in sign_in.rs"),
    ("models add", "needs a model provider; tested in models.rs"),
    ("chat", "needs a model provider; tested in chat.rs"),
    ("export", "needs a home folder with settings of the user; tested in import.rs"),
    ("import", "reads the settings of other apps of the user; tested in import.rs"),
];

#[test]
fn commands_of_the_guide_succeed_on_the_demo_server() {
    let folder = TestFolder::new();
    let answers = folder.answers_option(&allowing_answers(json!([])));
    let examples = guide_examples("en");
    let is_not_run = |words: &[String]| {
        let line = words.join(" ");
        GUIDE_COMMANDS_NOT_RUN.iter().any(|(start, _)| line.starts_with(start))
    };
    for example in examples.iter().filter(|example| !is_not_run(&example.words[1..])) {
        let mut command = folder.command();
        if !example.words.iter().any(|word| word == "--answers") {
            command.args(&answers);
        }
        let output = command.args(&example.words[1..]).current_dir(folder.path("")).output().expect("the program runs");
        let (printed, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{}: {:?}\n{printed}\n{errors}", example.location, example.words);
    }
    for (start, _) in GUIDE_COMMANDS_NOT_RUN {
        let is_used = examples.iter().any(|example| example.words[1..].join(" ").starts_with(start));
        assert!(is_used, "the guide should have a command that starts with {start}");
    }
}
