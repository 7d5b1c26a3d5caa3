//! Tests of the table of revisions.

use mcp_proto::Revision;

#[test]
fn every_revision_has_a_unique_name() {
    for revision in Revision::ALL {
        assert_eq!(revision.to_string().parse(), Ok(revision), "the name of {revision} must parse back to it");
        let json = serde_json::to_string(&revision).unwrap();
        assert_eq!(json, format!("\"{revision}\""), "the JSON form must equal the name");
    }
    let mut sorted = Revision::ALL;
    sorted.sort();
    assert_eq!(sorted, Revision::ALL, "revisions must be ordered by date");
    assert!(
        "2025-11-26".parse::<Revision>().is_err(),
        "[lifecycle-disconnect-unsupported]: unknown names must be rejected"
    );
    assert_eq!(Revision::NEWEST_LEGACY, Revision::V2025_11_25, "[lifecycle-init-version-latest]");
}

#[test]
fn revision_features_match_the_specification() {
    type Feature = fn(Revision) -> bool;
    // One column per revision, oldest first.
    let table: [(&str, Feature, [bool; 5]); 18] = [
        ("handshake gone", Revision::is_modern, [false, false, false, false, true]),
        ("[base-batch-receive]", Revision::has_batches, [false, true, false, false, false]),
        ("[ping-removed-modern]", Revision::has_ping, [true, true, true, true, false]),
        ("[mrtr-no-server-requests]", Revision::has_server_requests, [true, true, true, true, false]),
        ("[logging-no-set-level-modern]", Revision::has_set_log_level, [true, true, true, true, false]),
        ("[resources-subscribe-modern]", Revision::has_resource_subscribe, [true, true, true, true, false]),
        ("[roots-no-list-changed-modern]", Revision::has_roots_list_changed, [true, true, true, true, false]),
        ("[completion-no-flag]", Revision::has_completions_capability, [false, true, true, true, true]),
        ("[completion-context]", Revision::has_completion_context, [false, false, true, true, true]),
        ("[elicit-declare-init]", Revision::has_elicitation, [false, false, true, true, true]),
        ("[elicit-one-mode]", Revision::has_elicitation_modes, [false, false, false, true, true]),
        ("[elicit-complete-unknown]", Revision::has_elicitation_complete, [false, false, false, true, false]),
        ("[elicit-url-required-error]", Revision::has_url_required_error, [false, false, false, true, false]),
        ("[sampling-content-array]", Revision::has_sampling_content_list, [false, false, false, true, true]),
        ("[sampling-tools-declare]", Revision::has_sampling_tools, [false, false, false, true, true]),
        ("[sampling-context-capability]", Revision::has_sampling_context, [false, false, false, true, true]),
        ("[mrtr-recognise]", Revision::has_multi_round_trip, [false, false, false, false, true]),
        ("[lifecycle-meta-version]", Revision::has_request_meta, [false, false, false, false, true]),
    ];
    for (requirement, feature, expected) in table {
        assert_eq!(Revision::ALL.map(feature), expected, "{requirement}");
    }
}
