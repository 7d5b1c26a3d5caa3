//! Fuzz targets: challenges and metadata of remote servers and authorization servers. The properties are in
//! `mcp_auth::fuzzing`, next to the parsers.

use mcp_auth::fuzzing;

/// The `WWW-Authenticate` lines of an answer.
///
/// # Panics
/// If a property does not hold.
pub fn challenge(data: &[u8]) {
    fuzzing::check_challenge(&String::from_utf8_lossy(data));
}

/// A metadata document, of a server or of its authorization server, or the address at the end of a sign-in.
///
/// # Panics
/// If a property does not hold.
pub fn metadata(data: &[u8]) {
    fuzzing::check_server_metadata(data);
    fuzzing::check_resource_metadata(data);
    fuzzing::check_redirect(&String::from_utf8_lossy(data));
}
