//! Hashes of the payloads that leave the host. The gate (`host/src/owner/gate.rs`) compares
//! them with the hash of the approval.

use credentials::sign_in::EnteredClient;
use domain::call::CallKind;
use mcp_proto::session::ClientResponse;
use policy::Hash;
use serde_json::{Map, Value, json};
use url::Url;

use super::request_content::consent_payload_hash;
use crate::view::ConsentRequestBody;

/// Query parameters of an authorization URL that are generated for each use, so they may differ from those displayed.
const ONE_TIME_URL_PARAMETERS: [&str; 3] = ["state", "code_challenge", "nonce"];

/// Returns the hash of a response to a server's request.
pub fn response_hash(answer: &ClientResponse) -> Hash {
    Hash::of_json(&match answer {
        ClientResponse::Sampling(result) => json!({ "sampling": result }),
        ClientResponse::Elicitation(result) => json!({ "elicitation": result }),
        ClientResponse::Roots(roots) => json!({ "roots": roots }),
        ClientResponse::Refused { code, message } => json!({ "refused": code, "message": message }),
    })
}

/// Returns the hash of the URL of a page that the browser opens.
pub fn url_hash(url: &str) -> Hash {
    Hash::of_json(&json!({ "page": url }))
}

/// Returns the hash of an authorization URL without the parameters that are generated for each use. The order of the
/// other parameters is significant.
pub fn sign_in_url_hash(url: &str) -> Hash {
    let Ok(mut page) = Url::parse(url) else { return Hash::of_json(&json!({ "sign-in": url })) };
    let is_permanent = |(name, _): &(String, String)| !ONE_TIME_URL_PARAMETERS.contains(&name.as_str());
    let parameters: Vec<(String, String)> = page.query_pairs().into_owned().filter(is_permanent).collect();
    page.set_query(None);
    Hash::of_json(&json!({ "sign-in": page.as_str(), "parameters": parameters }))
}

/// Returns the hash of client credentials that the user entered.
pub fn client_credentials_hash(client: &EnteredClient) -> Hash {
    Hash::of_json(&json!({ "client": client.client_id, "secret": client.client_secret }))
}

/// Returns the hash of a request for a prompt's messages or a resource's contents.
pub fn read_request_hash(server: &str, kind: CallKind, name: &str, arguments: Map<String, Value>) -> Hash {
    consent_payload_hash(server, &ConsentRequestBody::Read { kind, name: name.to_owned(), arguments }, None)
}
