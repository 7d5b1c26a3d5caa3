//! Container images of `docker run` and `podman run`.

use serde_json::Value;

use super::options::LauncherOptions;
use super::reference::{Launcher, PackageReference};
use super::{PackageVersion, UnknownPackage};

const CONTAINER_RUN_OPTIONS: LauncherOptions = LauncherOptions {
    flags: &[
        "-i",
        "--interactive",
        "-t",
        "--tty",
        "--rm",
        "-d",
        "--detach",
        "--init",
        "--privileged",
        "--read-only",
        "-P",
        "--publish-all",
        "--no-healthcheck",
        "--oom-kill-disable",
        "--sig-proxy",
        "-q",
        "--quiet",
    ],
    valued: &[
        "-a",
        "--attach",
        "--add-host",
        "--annotation",
        "--blkio-weight",
        "--cap-add",
        "--cap-drop",
        "--cgroupns",
        "--cidfile",
        "-c",
        "--cpu-shares",
        "--cpus",
        "--cpuset-cpus",
        "--cpuset-mems",
        "--device",
        "--dns",
        "--dns-option",
        "--dns-search",
        "--domainname",
        "-e",
        "--env",
        "--env-file",
        "--entrypoint",
        "--expose",
        "--gpus",
        "--group-add",
        "-h",
        "--hostname",
        "--ip",
        "--ip6",
        "--ipc",
        "-l",
        "--label",
        "--label-file",
        "--link",
        "--log-driver",
        "--log-opt",
        "--mac-address",
        "-m",
        "--memory",
        "--memory-swap",
        "--mount",
        "--name",
        "--net",
        "--network",
        "--network-alias",
        "--pid",
        "--pids-limit",
        "--platform",
        "-p",
        "--publish",
        "--pull",
        "--restart",
        "--runtime",
        "--security-opt",
        "--shm-size",
        "--stop-signal",
        "--stop-timeout",
        "--storage-opt",
        "--sysctl",
        "--tmpfs",
        "--ulimit",
        "-u",
        "--user",
        "--userns",
        "--uts",
        "-v",
        "--volume",
        "--volumes-from",
        "-w",
        "--workdir",
    ],
};

/// Host of the registry from which container engines load an image whose name contains no registry.
const DOCKER_HUB: &str = "docker.io";
/// Prefix of image digests and IDs.
const SHA256_PREFIX: &str = "sha256:";

/// Returns the index of the argument after `run` in a container engine's arguments, where the options of `run` begin.
/// Returns an error if an option before `run` is unknown, or `None` if the command runs no image.
pub(super) fn index_after_run_subcommand(args: &[String]) -> Option<Result<usize, UnknownPackage>> {
    let words: Vec<&str> = args.iter().take(2).map(String::as_str).collect();
    match words.as_slice() {
        ["run", ..] => Some(Ok(1)),
        ["container", "run"] => Some(Ok(2)),
        [option, ..] if option.starts_with('-') && args.iter().any(|arg| arg == "run") => {
            let name = option.split('=').next().unwrap_or_default();
            Some(Err(UnknownPackage::Option(name.to_owned())))
        }
        _ => None,
    }
}

pub(super) fn parse(launcher: Launcher, args: &[String], from: usize) -> Result<PackageReference, UnknownPackage> {
    let read = CONTAINER_RUN_OPTIONS.parse(args, from)?;
    let image = args.get(read.first).ok_or(UnknownPackage::NoPackage)?;
    let fits = image.chars().all(|c| c.is_ascii_alphanumeric() || "./:@_-".contains(c));
    if !fits || !image.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err(UnknownPackage::Specifier(image.clone()));
    }
    let (tagged, digest) = image.split_once('@').map_or((image.as_str(), None), |(name, digest)| (name, Some(digest)));
    // A colon before the last slash separates a port, not a tag.
    let (name, tag) = match tagged.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, tag),
        _ => (tagged, ""),
    };
    let version = match digest {
        Some(digest) if is_image_digest(digest) => digest,
        Some(_) => return Err(UnknownPackage::Specifier(image.clone())),
        None => tag,
    };
    Ok(PackageReference::new(launcher, name.to_owned(), version.to_owned(), read.first))
}

fn is_image_digest(text: &str) -> bool {
    text.strip_prefix(SHA256_PREFIX).is_some_and(|hash| hash.len() == 64 && hash.chars().all(|c| c.is_ascii_hexdigit()))
}

/// Returns the version of an image that the command line names by its digest, so that no lookup is necessary. Returns
/// `None` if the command line contains no digest.
pub(super) fn version_from_image_digest(reference: &PackageReference) -> Option<PackageVersion> {
    is_image_digest(&reference.requested_version)
        .then(|| package_version_with_digest(reference, &reference.requested_version, None))
}

fn image_reference_text(reference: &PackageReference) -> String {
    let tag = if reference.requested_version.is_empty() { "latest" } else { &reference.requested_version };
    format!("{}:{tag}", reference.name)
}

/// Returns the arguments with which the container engine inspects the local copy of the image. If there is one, the
/// engine would run it instead of pulling the image.
pub(super) fn local_image_lookup_arguments(reference: &PackageReference) -> Vec<String> {
    let format = "{\"digests\":{{json .RepoDigests}},\"id\":{{json .Id}}}";
    ["image", "inspect", "--format", format, &image_reference_text(reference)].map(str::to_owned).into()
}

/// Returns the arguments with which the container engine looks up the image in its registry. This needs no running
/// engine.
pub(super) fn lookup_arguments(reference: &PackageReference) -> Vec<String> {
    ["buildx", "imagetools", "inspect", "--format", "{{json .Manifest}}", &image_reference_text(reference)]
        .map(str::to_owned)
        .into()
}

/// Parses the output of the container engine about a local copy of the image.
///
/// Only a digest from the repository in the command line pins the image: a locally set tag may refer to an image of
/// another repository, which the registry doesn't offer under this name. Such an image, and one that was built locally,
/// is identified by its ID.
pub(super) fn parse_local_lookup_output(reference: &PackageReference, stdout: &str) -> Option<PackageVersion> {
    let answer: Value = serde_json::from_str(stdout.lines().next()?).ok()?;
    let here = Some("this computer".to_owned());
    let own = full_repository_name(&reference.name);
    let digests = answer["digests"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut of_own =
        digests.filter_map(|named| named.rsplit_once('@').filter(|(name, _)| full_repository_name(name) == own));
    if let Some(digest) = of_own.find_map(|(_, digest)| is_image_digest(digest).then_some(digest)) {
        return Some(package_version_with_digest(reference, digest, here));
    }
    let id = answer["id"].as_str()?;
    // Podman prints IDs without the algorithm.
    let digest = if id.starts_with(SHA256_PREFIX) { id.to_owned() } else { format!("{SHA256_PREFIX}{id}") };
    is_image_digest(&digest)
        .then(|| PackageVersion { argument: id.to_owned(), ..package_version_with_digest(reference, &digest, here) })
}

/// Returns a repository name with its registry, completing short names as Docker does.
fn full_repository_name(name: &str) -> String {
    let is_registry = |first: &str| first.contains(['.', ':']) || first == "localhost";
    let (registry, path) = match name.split_once('/') {
        Some((first, rest)) if is_registry(first) => (first, rest),
        _ => (DOCKER_HUB, name),
    };
    let registry = if registry == "index.docker.io" { DOCKER_HUB } else { registry };
    let folder = if registry == DOCKER_HUB && !path.contains('/') { "library/" } else { "" };
    format!("{registry}/{folder}{path}")
}

/// Parses the container engine's output about an image in its registry.
pub(super) fn parse_lookup_output(reference: &PackageReference, stdout: &str) -> Option<PackageVersion> {
    let answer: Value = serde_json::from_str(stdout).ok()?;
    answer["digest"]
        .as_str()
        .filter(|digest| is_image_digest(digest))
        .map(|digest| package_version_with_digest(reference, digest, None))
}

fn package_version_with_digest(reference: &PackageReference, digest: &str, source: Option<String>) -> PackageVersion {
    let tag = if reference.requested_version.is_empty() { "latest" } else { &reference.requested_version };
    PackageVersion {
        name: reference.name.clone(),
        version: tag.to_owned(),
        integrity: Some(digest.to_owned()),
        source,
        argument: format!("{}@{digest}", reference.name),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn docker_reference(image: &str) -> PackageReference {
        parse(Launcher::Docker, &["run".to_owned(), image.to_owned()], 1).unwrap()
    }

    fn pinned_argument(image: &str, digests: &[&str], id: &str) -> Option<String> {
        let stdout = serde_json::json!({ "digests": digests, "id": id }).to_string();
        parse_local_lookup_output(&docker_reference(image), &stdout).map(|found| found.argument)
    }

    #[test]
    fn s25_image_is_pinned_only_by_a_digest_of_its_repository() {
        let (one, other, id) = ("a".repeat(64), "b".repeat(64), format!("sha256:{}", "c".repeat(64)));
        let of = |repository: &str, hash: &str| format!("{repository}@sha256:{hash}");
        let (own, foreign) = (of("mcp/notes", &one), of("evil/notes", &other));
        assert_eq!(
            pinned_argument("mcp/notes:1", &[&foreign, &own], &id),
            Some(own),
            "the digest of the named repository must be used, not the first one"
        );
        assert_eq!(
            pinned_argument("mcp/notes:1", &[&foreign], &id),
            Some(id.clone()),
            "an image of another repository must be identified by its ID"
        );
        assert_eq!(pinned_argument("mcp/notes:1", &[&foreign], ""), None, "an image without an ID can't be pinned");
        let whole = of("docker.io/library/node", &one);
        assert_eq!(
            pinned_argument("node:22", &[&whole], &id),
            Some(of("node", &one)),
            "the full name must be the same repository"
        );
        let ported = of("localhost:5000/node", &one);
        assert_eq!(
            pinned_argument("node:22", &[&ported], &id),
            Some(id),
            "the same name in another registry must be another repository"
        );
        let podman = "d".repeat(64);
        assert_eq!(
            pinned_argument("node:22", &[], &podman),
            Some(podman.clone()),
            "an ID without the algorithm must be accepted, as Podman prints it"
        );
    }
}
