//! Tests of paginated lists without end (X08).

use testkit::app::scripted_config;

use crate::pair::GoodAndBadServers;

/// Maximum number of pages of a list that the host requests.
const MAX_LIST_PAGES: usize = 100;

#[tokio::test]
async fn x08_endless_lists_are_truncated_and_reported() {
    for (misbehave, pages, most) in
        [("endless-cursor", 2, 10), ("endless-new-cursor", MAX_LIST_PAGES, 5_000), ("many-tools", 1, 5_000)]
    {
        let what = format!("X08, {misbehave}");
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("record");
        let pair = GoodAndBadServers::ready(scripted_config(&[
            "--misbehave",
            misbehave,
            "--record",
            record.to_str().unwrap(),
        ]))
        .await;
        pair.assert_good_server_responds(&what, "afterwards").await;
        let catalog = pair.app.host.catalog("bad".into()).await.unwrap();
        let retained = catalog.tools.len();
        assert!(retained > 0 && retained <= most, "{what}: {retained} tools are retained");
        assert!(!catalog.notes[0].is_empty(), "{what}: the omission of further tools is reported");
        let requested = std::fs::read_to_string(&record).unwrap().matches(r#""method":"tools/list""#).count();
        assert_eq!(requested, pages, "{what}: the number of requested pages is at most {MAX_LIST_PAGES}");
        pair.assert_memory_bounded(&what);
        pair.close(&what).await;
    }
}
