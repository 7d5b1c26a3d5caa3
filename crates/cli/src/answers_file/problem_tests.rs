//! Tests of the messages about invalid answers files.

use super::*;

#[test]
fn every_problem_of_an_answers_file_has_a_position_and_an_explanation() {
    let cases = [
        ("{}", 1, 1, "expected a list of answers: invalid type: map, expected a sequence"),
        ("[\n  {\"kind\": \"tool\"}\n]", 2, 18, "missing field `answer`"),
        (
            "[{\"kind\": \"tools\", \"answer\": {\"action\": \"deny\"}}]",
            1,
            17,
            "unknown variant `tools`, expected one of `start-server`, `tool`, `prompt`, `resource`, `result`, `sampling`, `elicitation`, `url`, `roots`, `sign-in`, `client-id`",
        ),
        (
            "[{\"kind\": \"tool\",\n \"answer\": {\"action\": \"yes\"}}]",
            2,
            27,
            "unknown variant `yes`, expected one of `allow`, `deny`, `accept`, `decline`, `cancel`",
        ),
        (
            "[{\"kind\": \"tool\", \"tool\": \"x\", \"answer\": {\"action\": \"deny\"}}]",
            1,
            24,
            "unknown field `tool`, expected one of `kind`, `server`, `name`, `hash`, `unreviewed`, `afterUntrusted`, `commandLineOnly`, `answer`",
        ),
        (
            "[{\"kind\": \"sampling\", \"answer\": {\"action\": \"allow\", \"content\": {\"txt\": \"x\"}}}]",
            1,
            2,
            "answer 1: expected either \"text\" or \"content\" for the answer of the model",
        ),
        (
            "[{\"kind\": \"sampling\", \"answer\": {\"action\": \"allow\", \"content\": {\"text\": \"x\", \"modell\": \"y\"}}}]",
            1,
            2,
            "answer 1: \"modell\" is not known in a model's answer",
        ),
        (
            "[{\"kind\": \"tool\", \"answer\": {\"action\": \"allow\", \"content\": {}}}]",
            1,
            2,
            "answer 1: \"content\" is allowed with \"accept\" for sampling, elicitation or client-id only",
        ),
        (
            "[{\"kind\": \"roots\", \"answer\": {\"action\": \"accept\"}}]",
            1,
            2,
            "answer 1: \"roots\" is missing: a list of folders, which may be empty",
        ),
        (
            "[{\"kind\": \"roots\", \"answer\": {\"action\": \"accept\", \"roots\": [\"src\"]}}]",
            1,
            2,
            "answer 1: the folder \"src\" must be an absolute path",
        ),
        (
            "[{\"kind\": \"url\", \"unreviewed\": true, \"answer\": {\"action\": \"allow\"}}]",
            1,
            2,
            "answer 1: \"unreviewed\" and \"afterUntrusted\" go with \"allow\" for tool only",
        ),
        (
            "[{\"kind\": \"tool\", \"commandLineOnly\": true, \"answer\": {\"action\": \"allow\"}}]",
            1,
            2,
            "answer 1: \"commandLineOnly\" is allowed with \"allow\" for start-server only",
        ),
        (
            "[{\"kind\": \"url\", \"answer\": {\"action\": \"deny\", \"roots\": []}}]",
            1,
            2,
            "answer 1: \"roots\" is allowed with \"accept\" for roots only",
        ),
    ];
    for (text, line, column, message) in cases {
        let problem = AnswersFile::parse(text).expect_err(text);
        assert_eq!(problem, (line, column, message.to_owned()), "the message for {text}");
    }
}
