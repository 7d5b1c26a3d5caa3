//! Keys: what a wrong one looks like, and that the right one is seen nowhere.

use models::{Conversions, Provider as _};

use crate::fake::{Fake, KEY, WIRES, all, asking, reply};

#[tokio::test]
async fn a_wrong_key_and_none_are_told_apart() {
    let fake = Fake::start();
    for wire in WIRES {
        let wrong = fake.with(wire, Some("sk-of-somebody-else"), Conversions::default());
        let (_, error) = all(&wrong, asking(wire, "say hello")).await;
        let error = error.expect_err("an error");
        assert_eq!(error.code(), "wrongKey", "{wire:?}: {error}");
        assert!(!error.to_string().contains("sk-of-somebody-else"), "{wire:?}: it is not repeated: {error}");
        let none = fake.with(wire, None, Conversions::default());
        let (_, error) = all(&none, asking(wire, "say hello")).await;
        let error = error.expect_err("an error");
        assert_eq!(error.code(), "noKey", "{wire:?}: {error}");
        let listed = none.models().await.expect_err("an error");
        assert_eq!(listed.code(), "noKey", "{wire:?}: listing wants one too: {listed}");
    }
}

#[tokio::test]
async fn the_key_is_in_no_answer_and_no_error() {
    let fake = Fake::start();
    for wire in WIRES {
        let provider = fake.provider(wire);
        let (came, error) = all(&provider, asking(wire, "say the error with the key")).await;
        let error = error.expect_err("an error");
        for shown in [error.to_string(), format!("{error:?}"), format!("{came:?}")] {
            assert!(!shown.contains(KEY), "{wire:?}: a provider that repeats it shows it to nobody: {shown}");
        }
        assert!(error.to_string().contains("[key]"), "{wire:?}: that it was there is said: {error}");
        let answer = reply(&provider, asking(wire, "say hello")).await;
        assert!(!format!("{answer:?}").contains(KEY), "{wire:?}: nor in an answer");
    }
}

#[tokio::test]
async fn a_key_that_can_not_be_sent_is_told() {
    let fake = Fake::start();
    for wire in WIRES {
        let broken = fake.with(wire, Some("sk-with\nnewline"), Conversions::default());
        let (_, error) = all(&broken, asking(wire, "say hello")).await;
        let error = error.expect_err("an error");
        assert_eq!(error.code(), "wrongKey", "{wire:?}: {error}");
        assert!(!error.to_string().contains("newline"), "{wire:?}: and not shown: {error}");
    }
}
