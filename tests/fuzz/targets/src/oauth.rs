//! Fuzz targets: challenges and metadata of remote servers and authorization servers. The properties are in
//! `mcp_auth::fuzzing`, next to the parsers.

use mcp_auth::fuzzing;

/// Tests the parser of `WWW-Authenticate` headers.
///
/// # Panics
/// Panics if a requirement that [`mcp_auth::fuzzing`] checks is not met.
pub fn challenge(data: &[u8]) {
    fuzzing::assert_challenge_parser_invariants(&String::from_utf8_lossy(data));
}

/// Tests the parsers of protected resource metadata, authorization server metadata, and redirect URLs.
///
/// # Panics
/// Panics if a requirement that [`mcp_auth::fuzzing`] checks is not met.
pub fn metadata(data: &[u8]) {
    fuzzing::assert_server_metadata_parser_invariants(data);
    fuzzing::assert_resource_metadata_parser_invariants(data);
    fuzzing::assert_redirect_parser_invariants(&String::from_utf8_lossy(data));
}
