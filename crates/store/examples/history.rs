//! Measures the history with 50,000 messages: `cargo run --profile profiling -p store --example history`.
#![allow(clippy::print_stdout)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::StoreError;
use domain::history::{Conversation, HistorySearch, ItemPosition, ItemRange, NewHistoryItem};
use domain::item::ItemState;
use ports::{History, Platform};
use serde_json::{Value, json};

const CONVERSATION_COUNT: usize = 450;
const ITEMS_PER_CONVERSATION: usize = 100;
const LONG_CONVERSATION_ITEMS: usize = 5_000;
const PICTURE_COUNT: usize = 50;
/// Number of times that each operation is measured.
const MEASUREMENT_COUNT: usize = 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let open = || store::open(&folder.path().join("mcp.json"), &folder.path().join("data"), Arc::new(NoPlatform));
    let ports = open()?;
    let history = ports.history.as_ref();
    let began = Instant::now();
    let mut random = fill_history(history)?;
    let messages = CONVERSATION_COUNT * ITEMS_PER_CONVERSATION + LONG_CONVERSATION_ITEMS;
    println!("{messages} messages written in {:?}, {} MB", began.elapsed(), folder_size(folder.path()) >> 20);
    drop(ports);

    let began = Instant::now();
    let ports = open()?;
    let history = ports.history.as_ref();
    history.list()?;
    println!("first opened and listed in {:?}", began.elapsed());
    measure("list", || history.list().map(|list| list.len()))?;
    let page = |whole: bool, limit: usize| {
        let range = ItemRange { conversation: "long".into(), before: None, limit, whole };
        history.items(&range).map(|page| page.map_or(0, |page| page.items.len()))
    };
    measure("the last 100 of 5,000 items", || page(false, 100))?;
    measure("all 5,000 items without pictures", || page(false, LONG_CONVERSATION_ITEMS))?;
    measure("all 5,000 items with 50 pictures", || page(true, LONG_CONVERSATION_ITEMS))?;
    let (rare, frequent) = (word_of_rank(9_000), word_of_rank(3));
    let queries = [
        ("a rare word", rare.clone()),
        ("a word in most messages", "the ".to_owned()),
        ("a beginning, one letter", "t".to_owned()),
        ("a beginning, two letters", frequent[..2].to_owned()),
        ("a beginning, three letters", rare[..3].to_owned()),
        ("a beginning, four letters", rare[..4].to_owned()),
        ("two words in most", "the of ".to_owned()),
        ("a frequent and a rare one", format!("the {rare}")),
        ("two ideographs", "港口".to_owned()),
        ("one ideograph", "船".to_owned()),
        ("six ideographs", "我们在港口见".to_owned()),
        ("two rows of ideographs", "港口 北京".to_owned()),
        ("nothing", "xylophone".to_owned()),
        ("eight words", format!("the of and in to {frequent} {} {}", word_of_rank(1), word_of_rank(2))),
    ];
    for (name, text) in queries {
        let search = HistorySearch { text, limit: 20, before: None };
        measure(&format!("search: {name} ({})", search.text), || history.search(&search).map(|found| found.len()))?;
    }
    let mut text = String::new();
    measure("write a streaming reply", || {
        text.push_str(&random_words(&mut random, 20));
        history.write("long", &[message_item("reply", &text, ItemState::Streaming)]).map(usize::from)
    })?;
    for id in ["c7", "long"] {
        let began = Instant::now();
        history.delete(id)?;
        println!("deleted {id} in {:?}", began.elapsed());
    }
    println!("{} MB after that", folder_size(folder.path()) >> 20);
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        status.lines().filter(|line| line.starts_with("VmHWM")).for_each(|line| println!("{line}"));
    }
    Ok(())
}

fn fill_history(history: &dyn History) -> Result<u64, StoreError> {
    let mut random = 7_u64;
    let begin = |id: &str, count: usize, pictures: usize, random: &mut u64| {
        let conversation = Conversation { id: id.into(), title: random_words(random, 4), ..Conversation::default() };
        history.create(&conversation)?;
        let items: Vec<NewHistoryItem> = (0..count)
            .map(|n| {
                let words = 20 + (next_random(random) % 120) as usize;
                let mut item = message_item(&format!("{id}-{n}"), &random_words(random, words), ItemState::Whole);
                let content = item.body["content"].as_array_mut().filter(|_| n < pictures);
                content.into_iter().for_each(|content| content.push(random_picture(random)));
                item
            })
            .collect();
        history.write(id, &items).map(|_| ())
    };
    for n in 0..CONVERSATION_COUNT {
        begin(&format!("c{n}"), ITEMS_PER_CONVERSATION, 0, &mut random)?;
    }
    begin("long", LONG_CONVERSATION_ITEMS, PICTURE_COUNT, &mut random)?;
    Ok(random)
}

/// Runs `act` several times, and prints the median and the maximum duration.
fn measure<E>(name: &str, mut act: impl FnMut() -> Result<usize, E>) -> Result<(), E> {
    let mut times: Vec<Duration> = Vec::with_capacity(MEASUREMENT_COUNT);
    let mut count = 0;
    for _ in 0..MEASUREMENT_COUNT {
        let began = Instant::now();
        count = act()?;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    println!("{name}: median {:?}, slowest {:?} ({count})", times[MEASUREMENT_COUNT / 2], times[MEASUREMENT_COUNT - 1]);
    Ok(())
}

fn message_item(id: &str, text: &str, state: ItemState) -> NewHistoryItem {
    NewHistoryItem {
        id: id.into(),
        after: ItemPosition::Head,
        at: 1,
        body: json!({"kind": "message", "role": "user", "content": [{"type": "text", "text": text}], "prompt": null}),
        state,
        sources: Vec::new(),
        read_contents: Vec::new(),
    }
}

/// Returns random bytes in base64, 200 KB long, in place of a picture.
fn random_picture(random: &mut u64) -> Value {
    let data: String = (0..200_000).map(|_| char::from(b'a' + (next_random(random) % 26) as u8)).collect();
    json!({"type": "image", "data": data, "mimeType": "image/png"})
}

/// Returns random words whose frequencies are distributed as in a natural language.
fn random_words(random: &mut u64, words: usize) -> String {
    const FREQUENT_WORDS: [&str; 12] =
        ["the", "of", "and", "in", "to", "港口", "我们在", "北京", "见面", "天气", "船", "我们在港口见面"];
    let mut text = String::new();
    for _ in 0..words {
        let number = next_random(random);
        if number.is_multiple_of(3) {
            text.push_str(FREQUENT_WORDS[(number / 3 % 12) as usize]);
        } else {
            // Lower ranks are more frequent.
            let rank = 10_000.0_f64.powf((number / 3 % 100_000) as f64 / 100_000.0);
            text.push_str(&word_of_rank(rank as usize));
        }
        text.push(' ');
    }
    text
}

/// Returns an invented word for a frequency rank. Several of these words have common prefixes.
fn word_of_rank(rank: usize) -> String {
    const SYLLABLES: [&str; 24] = [
        "ber", "con", "da", "el", "fi", "gra", "ho", "in", "ju", "ka", "lo", "mar", "no", "or", "pre", "qui", "ra",
        "ste", "tra", "un", "ver", "wo", "ya", "zu",
    ];
    let (mut text, mut rest) = (String::new(), rank);
    loop {
        text.push_str(SYLLABLES[rest % SYLLABLES.len()]);
        rest /= SYLLABLES.len();
        if rest == 0 {
            return text;
        }
    }
}

fn next_random(random: &mut u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random
}

fn folder_size(folder: &std::path::Path) -> u64 {
    let files = std::fs::read_dir(folder.join("data")).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|metadata| metadata.len()).sum()
}

struct NoPlatform;

#[async_trait::async_trait]
impl Platform for NoPlatform {
    async fn open_url(&self, _url: &str) -> Result<(), String> {
        Err("there is no browser here".to_owned())
    }

    async fn pick_folder(&self) -> Result<Option<std::path::PathBuf>, String> {
        Ok(None)
    }

    async fn pick_file(&self, _: &[&str]) -> Result<Option<std::path::PathBuf>, String> {
        Ok(None)
    }

    async fn pick_save_file(&self, _name: &str) -> Result<Option<std::path::PathBuf>, String> {
        Ok(None)
    }

    fn announce(&self, _server: &str, _kind: &str, _request: Option<domain::consent_request::ConsentRequestId>) {}
}
