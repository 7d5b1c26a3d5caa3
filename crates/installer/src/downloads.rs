//! Bundles that a registry lists are downloaded to a separate folder, and remain there until they are installed. Each
//! step of an installation finds the file by its hash.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use registry::{BundleDownload, DownloadLimits};

use crate::{BundleFile, InstallError, Installer, run_blocking};

/// Name of the folder in the data folder to which bundles are downloaded.
const DOWNLOADS_FOLDER_NAME: &str = "downloads";
/// Maximum number of downloaded bundles that are retained. When there are more, the oldest is removed.
const MAX_STORED_DOWNLOADS: usize = 3;
/// Number of hexadecimal digits of a SHA-256.
const SHA256_HEX_DIGITS: usize = 64;
/// Age at which a downloaded bundle that was not installed is removed. Until then, another process may still need it.
const DOWNLOAD_RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

impl Installer {
    /// Opens a bundle that the registry lists. Downloads it first, unless a file with the listed hash is already in the
    /// downloads folder.
    pub(crate) async fn download(&self, download: &BundleDownload) -> Result<BundleFile, InstallError> {
        let (folder, root) = (self.downloads_folder(), self.bundles_folder().await?);
        let stored_path = folder.join(format!("{}.mcpb", download.sha256.to_ascii_lowercase()));
        if let Ok(file) = BundleFile::open(&stored_path, &root).await
            && file.bundle.archive.sha256().eq_ignore_ascii_case(&download.sha256)
        {
            return Ok(file);
        }
        let room = folder.clone();
        let made = run_blocking(move || {
            fs::create_dir_all(&room).and_then(|()| remove_oldest_downloads(&room, MAX_STORED_DOWNLOADS - 1))
        });
        made.await.map_err(|cause| InstallError::DataFolder(cause.to_string()))?;
        let path = self.catalog().await?.download(download, &folder, DownloadLimits::default()).await?;
        BundleFile::open(&path, &root).await
    }

    /// Removes a downloaded bundle after its installation. Does nothing for files outside of the downloads folder,
    /// which belong to the user.
    pub(crate) async fn remove_download(&self, path: PathBuf) {
        if path.parent() == Some(&*self.downloads_folder()) {
            // If that fails, the file is removed when the app starts.
            drop(run_blocking(move || fs::remove_file(path)).await);
        }
    }

    pub(crate) fn downloads_folder(&self) -> PathBuf {
        self.data_folder().join(DOWNLOADS_FOLDER_NAME)
    }
}

/// Removes downloaded bundles older than [`DOWNLOAD_RETENTION`].
pub(crate) fn remove_expired_downloads(folder: &Path) -> io::Result<()> {
    let old = |at: &SystemTime| at.elapsed().is_ok_and(|age| age > DOWNLOAD_RETENTION);
    for (_, path) in files_by_age(folder)?.into_iter().filter(|(at, _)| old(at)) {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// Removes the oldest complete downloads until at most `most` remain. Files that another process is downloading are not
/// counted or removed.
fn remove_oldest_downloads(folder: &Path, most: usize) -> io::Result<()> {
    let files: Vec<_> = files_by_age(folder)?.into_iter().filter(|(_, path)| is_complete_download(path)).collect();
    let surplus = files.len().saturating_sub(most);
    files.into_iter().take(surplus).try_for_each(|(_, path)| fs::remove_file(path))
}

/// Returns `true` if the file name is a SHA-256, which is the name of each completely downloaded bundle.
fn is_complete_download(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default().as_encoded_bytes();
    stem.len() == SHA256_HEX_DIGITS && stem.iter().all(u8::is_ascii_hexdigit)
}

/// Returns the files in the folder with their modification times, oldest first.
fn files_by_age(folder: &Path) -> io::Result<Vec<(SystemTime, PathBuf)>> {
    let entries = match fs::read_dir(folder) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry?;
        let facts = entry.metadata()?;
        if facts.is_file() {
            files.push((facts.modified()?, entry.path()));
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn expired_and_surplus_downloads_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |hours: u64| SystemTime::now() - Duration::from_secs(hours * 60 * 60);
        let write = |name: &str, hours: u64| {
            fs::File::create(folder.path().join(name)).unwrap().set_modified(at(hours)).unwrap();
        };
        let names = || -> Vec<String> {
            let all = files_by_age(folder.path()).unwrap().into_iter();
            all.map(|(_, path)| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
        };
        let whole = |digit: &str| format!("{}.mcpb", digit.repeat(SHA256_HEX_DIGITS));
        let unfinished = ".unfinished-x.mcpb";
        [("a", 30), ("b", 23), ("c", 2), ("d", 1)].into_iter().for_each(|(name, hours)| write(&whole(name), hours));
        write(unfinished, 22);
        remove_expired_downloads(folder.path()).unwrap();
        let (b, c, d) = (whole("b"), whole("c"), whole("d"));
        assert_eq!(names(), [b.as_str(), unfinished, &c, &d], "only files older than a day must be removed");
        remove_oldest_downloads(folder.path(), MAX_STORED_DOWNLOADS - 1).unwrap();
        assert_eq!(
            names(),
            [unfinished, c.as_str(), &d],
            "the oldest complete file must be removed, and unfinished ones retained"
        );
        remove_expired_downloads(&folder.path().join("gone")).unwrap();
    }
}
