//! Secrets: encrypted in `secrets.json`, with one key in the system's keychain; where there is none, in memory until the
//! program ends.
//!
//! The key is never replaced. Each file has one of its own, under a name that stands in the file, so that two programs that
//! begin at once, or a keychain that seems empty because it is locked, can make nothing unreadable.

mod keychain;
mod patience;
mod sealed;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aws_lc_rs::digest;
use domain::StoreError;
use ports::secrets::SecretsInMemory;
use ports::{SecretError, SecretKept, Secrets, SecretsStatus};
use zeroize::Zeroizing;

use crate::files::{self, Existing};
use crate::lock::{self, Held, Lock};
use keychain::{Keychain, OfSystem, Refusal};
use patience::Patience;
use sealed::{Key, SealedFile};

const FILE: &str = "secrets.json";
/// The folder with the locks of names that are held.
const HELD: &str = "held";
/// How long another program may hold a name: some requests to a server that does not answer.
const HOLDING: Duration = Duration::from_secs(65);
/// How long another program may hold the name of a mark, which is written in milliseconds. Who holds it for longer keeps the
/// keychain from knowing of the latest files, so it is written all the same.
const HOLDING_OF_MARK: Duration = Duration::from_millis(500);
/// More is neither read nor written, in bytes.
const LIMIT: u64 = 16 << 20;
/// How long the keychain may take: the user may have to enter its password.
const PATIENCE: Duration = Duration::from_secs(60);
/// What a keychain is tried with that says it has no entry.
const PROBE: &str = "probe";
/// How often another program may begin a file at the same moment.
const RACES: usize = 3;

/// Secrets in a data folder.
pub(crate) struct SecretsFile {
    path: PathBuf,
    lock: Lock,
    keychain: Box<dyn Keychain>,
    /// What could not be kept for longer.
    memory: SecretsInMemory,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The key that was used last.
    key: Option<Arc<Key>>,
    /// Names in `memory`.
    unkept: HashSet<String>,
    /// Names that no entry of their own in the keychain has, as older versions made them.
    looked_for: HashSet<String>,
}

impl SecretsFile {
    pub(crate) fn new(data_dir: &Path, lock: Lock) -> Self {
        Self::with(data_dir, lock, Box::new(Patience::new(Arc::new(OfSystem), PATIENCE)))
    }

    fn with(data_dir: &Path, lock: Lock, keychain: Box<dyn Keychain>) -> Self {
        Self { path: data_dir.join(FILE), lock, keychain, memory: SecretsInMemory::default(), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file, if there is one.
    fn read(&self) -> Result<Option<SealedFile>, Refusal> {
        let broken = |error: StoreError| Refusal::Broken(error.to_string());
        let Some(bytes) = files::read(&self.path, LIMIT).map_err(broken)? else { return Ok(None) };
        let file = SealedFile::read(&bytes).map_err(|cause| {
            let path = self.path.display();
            Refusal::Broken(format!("{path} can't be read ({cause}); mend it, or move it away to begin anew"))
        })?;
        Ok(Some(file))
    }

    /// Changes the file, with no other program in between. Nothing is changed if `change` gives an error.
    fn update<T>(
        &self,
        change: impl FnOnce(Option<SealedFile>) -> Result<(T, Option<SealedFile>), Refusal>,
    ) -> Result<T, Refusal> {
        let broken = |error: StoreError| Refusal::Broken(error.to_string());
        let _held = self.lock.hold().map_err(broken)?;
        let (result, file) = change(self.read()?)?;
        let Some(file) = file else { return Ok(result) };
        let text = serde_json::to_vec_pretty(&file).map_err(|error| Refusal::Broken(error.to_string()))?;
        if text.len() as u64 > LIMIT {
            return Err(Refusal::Broken(format!("{} has no room for more", self.path.display())));
        }
        crate::private::make_private(&self.path).map_err(broken)?;
        files::write(&self.path, &text, Existing::Replace).map_err(broken)?;
        Ok(result)
    }

    /// The key of a file.
    fn key_of(&self, file: &SealedFile) -> Result<Arc<Key>, Refusal> {
        if let Some(key) = self.state().key.clone().filter(|key| file.is_of(key)) {
            return Ok(key);
        }
        let path = self.path.display();
        let lost = |what: &str| {
            Refusal::Broken(format!(
                "{what}, so {path} can't be opened; if it is lost for good, move that file away to begin anew"
            ))
        };
        let Some(bytes) = self.keychain.read(&entry_name(&file.key))?.map(Zeroizing::new) else {
            // A locked one may say that it has no such entry. It then takes none either.
            self.probe()?;
            return Err(lost("the keychain does not have the key of your secrets"));
        };
        let key = Key::new(&file.key, &bytes).ok().filter(|key| file.is_of(key));
        let key = Arc::new(key.ok_or_else(|| lost("the keychain has another key than that of your secrets"))?);
        self.state().key = Some(Arc::clone(&key));
        Ok(key)
    }

    /// Finds out whether the keychain takes anything.
    fn probe(&self) -> Result<(), Refusal> {
        self.keychain.write(PROBE, PROBE.as_bytes())?;
        self.keychain.remove(PROBE)
    }

    /// A key for a file that is not there yet.
    fn new_key(&self) -> Result<Arc<Key>, Refusal> {
        if let Some(key) = self.state().key.clone() {
            return Ok(key);
        }
        let unsealable = |_| Refusal::Broken("this system gives no random numbers".to_owned());
        let (id, bytes) = Key::random().map_err(unsealable)?;
        let key = Arc::new(Key::new(&id, bytes.as_slice()).map_err(unsealable)?);
        let name = entry_name(&id);
        self.keychain.write(&name, bytes.as_slice())?;
        let kept = self.keychain.read(&name)?.map(Zeroizing::new);
        if kept.as_deref().map(Vec::as_slice) != Some(bytes.as_slice()) {
            return Err(Refusal::Broken("the keychain does not give back what it was given".to_owned()));
        }
        Ok(key)
    }

    /// Seals a secret into the file, which is made if there is none, and with it all that could not be kept before.
    fn keep(&self, name: &str, secret: &str) -> Result<(), Refusal> {
        let broken = |error: SecretError| Refusal::Broken(error.to_string());
        for _ in 0..RACES {
            let found = self.read()?;
            let key = match &found {
                Some(file) => self.key_of(file)?,
                None => self.new_key()?,
            };
            let kept = self.update(|file| {
                let unsealable = |_| Refusal::Broken("the secret could not be encrypted".to_owned());
                let mut file = match file {
                    Some(file) if file.is_of(&key) => file,
                    None => SealedFile::new(&key).map_err(unsealable)?,
                    Some(_) => return Ok((None, None)),
                };
                // Only now: what was forgotten while the keychain was asked must not come back.
                let all = self.all_unkept(name, secret).map_err(broken)?;
                for (name, secret) in &all {
                    file.entries.insert(name.clone(), key.seal(name, secret).map_err(unsealable)?);
                }
                Ok((Some(all), Some(file)))
            })?;
            if let Some(kept) = kept {
                self.state().key = Some(key);
                for (name, _) in kept {
                    self.memory.delete(&name).map_err(broken)?;
                    self.state().unkept.remove(&name);
                }
                return Ok(());
            }
            if found.is_none() {
                // Another program began the file, with its own key.
                self.state().key = None;
                self.keychain.remove(&entry_name(&key.id))?;
            }
        }
        Err(Refusal::Broken(format!("{} is changed by others all the time", self.path.display())))
    }

    /// What is in memory, and one more.
    fn all_unkept(&self, name: &str, secret: &str) -> Result<Vec<(String, String)>, SecretError> {
        let names: Vec<String> = self.state().unkept.iter().filter(|other| *other != name).cloned().collect();
        let mut all = vec![(name.to_owned(), secret.to_owned())];
        for name in names {
            all.extend(self.memory.get(&name)?.map(|secret| (name, secret)));
        }
        Ok(all)
    }

    /// A secret that an older version kept as an entry of its own. It is moved to the others.
    fn moved(&self, name: &str) -> Result<Option<String>, SecretError> {
        if !is_of_older_version(name) || self.state().looked_for.contains(name) {
            return Ok(None);
        }
        let old = self.keychain.read(name)?;
        let Some(secret) = old.and_then(|bytes| String::from_utf8(bytes).ok()) else {
            self.state().looked_for.insert(name.to_owned());
            return Ok(None);
        };
        match self.keep(name, &secret) {
            Ok(()) => self.remove_old(name),
            Err(refusal) => tracing::warn!(?refusal, "a secret stays in the keychain as an entry of its own"),
        }
        Ok(Some(secret))
    }

    /// What an older version kept is of no use any more.
    fn remove_old(&self, name: &str) {
        if !is_of_older_version(name) {
            return;
        }
        match self.keychain.remove(name) {
            Ok(()) => {
                self.state().looked_for.insert(name.to_owned());
            }
            Err(refusal) => tracing::warn!(?refusal, "an old entry of the keychain could not be removed"),
        }
    }

    /// Holds a name; `pause` runs each time another program has it.
    fn hold_name(&self, name: &str, pause: impl FnMut()) -> Option<Held> {
        let file = short_hash(name.as_bytes());
        Lock::new(self.path.with_file_name(HELD).join(file)).hold_within(patience_for(name), pause).ok()
    }

    /// What a mark is called in the keychain: by the place of the file, since nothing in it could be trusted to tell.
    fn mark_name(&self, name: &str) -> String {
        format!("{name} {}", short_hash(self.path.as_os_str().as_encoded_bytes()))
    }

    /// What is to be said of a secret that could not be kept. An older value of it counts again when the program ends, and
    /// a locked keychain does not tell whether it has one.
    fn only_this_run(&self, name: &str, refusal: Refusal) -> String {
        let in_file = self.read().is_ok_and(|file| file.is_some_and(|file| file.entries.contains_key(name)));
        let may_have_one = in_file || matches!(refusal, Refusal::Locked(_));
        let cause = SecretError::from(refusal);
        if !may_have_one {
            return cause.to_string();
        }
        format!(
            "{cause}. If there is an older value of this secret, that one counts again after the next start, so enter the new one again then"
        )
    }
}

impl Secrets for SecretsFile {
    fn get(&self, key: &str) -> Result<Option<String>, SecretError> {
        if let Some(secret) = self.memory.get(key)? {
            return Ok(Some(secret));
        }
        let file = self.read()?;
        let Some((file, entry)) = file.as_ref().and_then(|file| Some((file, file.entries.get(key)?))) else {
            return self.moved(key);
        };
        let opened = self.key_of(file)?.open(key, entry);
        opened
            .map(Some)
            .map_err(|_| SecretError::Failed("what is kept of this secret is damaged; enter it again".into()))
    }

    fn set(&self, key: &str, secret: &str) -> Result<SecretKept, SecretError> {
        match self.keep(key, secret) {
            Ok(()) => {
                self.remove_old(key);
                Ok(SecretKept::Keychain)
            }
            Err(refusal) => {
                self.memory.set(key, secret)?;
                self.state().unkept.insert(key.to_owned());
                Ok(SecretKept::ThisRun { cause: self.only_this_run(key, refusal) })
            }
        }
    }

    fn delete(&self, key: &str) -> Result<(), SecretError> {
        self.memory.delete(key)?;
        self.state().unkept.remove(key);
        self.update(|file| {
            let changed = file.and_then(|mut file| file.entries.remove(key).map(|_| file));
            Ok(((), changed))
        })?;
        // Where there is no keychain, nothing is in it.
        self.remove_old(key);
        Ok(())
    }

    fn keys(&self, prefix: &str) -> Result<Vec<String>, SecretError> {
        let mut keys = self.memory.keys(prefix)?;
        let in_file = self.read()?.map(|file| file.entries).unwrap_or_default();
        keys.extend(in_file.into_keys().filter(|key| key.starts_with(prefix)));
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    fn hold(&self, name: &str) -> Option<Box<dyn Send>> {
        self.hold_name(name, lock::pause).map(|held| Box::new(held) as Box<dyn Send>)
    }

    fn mark(&self, name: &str) -> Result<Option<String>, SecretError> {
        let mark = self.keychain.read(&self.mark_name(name))?;
        let damaged = |_| SecretError::Failed("an entry of the keychain is damaged".to_owned());
        mark.map(String::from_utf8).transpose().map_err(damaged)
    }

    fn set_mark(&self, name: &str, mark: &str) -> Result<(), SecretError> {
        Ok(self.keychain.write(&self.mark_name(name), mark.as_bytes())?)
    }

    fn status(&self) -> SecretsStatus {
        let works = match self.read() {
            Ok(Some(file)) => self.key_of(&file).map(|_| ()),
            Ok(None) => self.probe(),
            Err(refusal) => Err(refusal),
        };
        works.map_or_else(SecretsStatus::from, |()| SecretsStatus::Keychain)
    }
}

/// How long another program may hold this name.
fn patience_for(name: &str) -> Duration {
    let is_mark = [crate::sealed_document::MARK, crate::audit::MARK].contains(&name);
    if is_mark { HOLDING_OF_MARK } else { HOLDING }
}

fn short_hash(bytes: &[u8]) -> String {
    let hash = digest::digest(&digest::SHA256, bytes);
    hash.as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn entry_name(id: &str) -> String {
    format!("key of secrets {id}")
}

/// Whether older versions may have kept a secret of this name: those of headers, "NAME @ ORIGIN".
fn is_of_older_version(name: &str) -> bool {
    name.split_once(" @ ").is_some_and(|(_, origin)| origin.starts_with("http"))
}

#[cfg(test)]
mod tests;
