//! Lists without end (X08).

use testkit::app::scripted;

use crate::pair::Pair;

#[tokio::test]
async fn x08_lists_without_end_are_cut_and_said_so() {
    for (misbehave, most) in [("endless-cursor", 10), ("endless-new-cursor", 5_000), ("many-tools", 5_000)] {
        let what = format!("X08, {misbehave}");
        let pair = Pair::ready(scripted(&["--misbehave", misbehave])).await;
        pair.good_is_well(&what, "afterwards").await;
        let catalog = pair.app.host.catalog("bad".into()).await.unwrap();
        let kept = catalog.tools.len();
        assert!(kept > 0 && kept <= most, "{what}: {kept} tools are kept");
        assert!(!catalog.notes[0].is_empty(), "{what}: and it is said that there are more");
        pair.memory_is_bounded(&what);
        pair.close(&what).await;
    }
}
