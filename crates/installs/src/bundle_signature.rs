//! The signature of a bundle, as far as it is read. The page translates it, and the command line shows its English text.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The signature block after the archive of a bundle, as far as it can be read. It is not verified, so no decision may
/// depend on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "state", rename_all = "camelCase")]
pub enum BundleSignature {
    /// The archive has no signature block after it.
    Absent,
    /// There is a signature, whose certificate names this signer. Anyone can create such a signature.
    Claimed {
        /// Common name in the signer's certificate, safe to print.
        name: String,
    },
    /// There is a signature, whose certificate can't be parsed.
    Unreadable,
}

impl fmt::Display for BundleSignature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => formatter.write_str("not signed"),
            Self::Claimed { name } => write!(formatter, "signed by {name} (not checked)"),
            Self::Unreadable => formatter.write_str("signed, but the signature can't be read"),
        }
    }
}
