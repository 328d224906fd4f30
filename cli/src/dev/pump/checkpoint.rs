//! How far each shard has been handed over, kept in a file where there is one. What is lost of it
//! costs duplicates, which find their entry claimed or closed; so it is written without ceremony.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

/// The checkpoints of one stream.
#[derive(Debug)]
pub(super) struct Checkpoints {
    file: Option<PathBuf>,
    kept: Mutex<Kept>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    /// The stream's ARN. Another stream's sequence numbers mean nothing here.
    stream: String,
    /// By shard: the last sequence number that needs no repetition.
    shards: BTreeMap<String, String>,
}

impl Checkpoints {
    /// The checkpoints of this stream as the file has them; none where it is missing, cannot be read,
    /// or is of another stream.
    pub(super) fn open(file: Option<PathBuf>, stream: &str) -> Self {
        let kept = file
            .as_deref()
            .and_then(read)
            .filter(|kept| kept.stream == stream)
            .unwrap_or_else(|| Kept {
                stream: stream.to_owned(),
                shards: BTreeMap::new(),
            });
        let kept = Mutex::new(kept);
        Self { file, kept }
    }

    /// The last sequence number of the shard that needs no repetition.
    pub(super) fn after(&self, shard: &str) -> Option<String> {
        self.kept().shards.get(shard).cloned()
    }

    /// Keeps how far the shard is handed over.
    pub(super) fn keep(&self, shard: &str, sequence_number: &str) {
        let mut kept = self.kept();
        kept.shards
            .insert(shard.to_owned(), sequence_number.to_owned());
        self.write(&kept);
    }

    /// Forgets the shard: its checkpoint is of no use any more.
    pub(super) fn forget(&self, shard: &str) {
        let mut kept = self.kept();
        if kept.shards.remove(shard).is_some() {
            self.write(&kept);
        }
    }

    fn write(&self, kept: &Kept) {
        let Some(file) = &self.file else { return };
        if let Err(error) = write(file, kept) {
            tracing::warn!(%error, file = %file.display(), "stream.checkpoint_not_kept");
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(file: &Path) -> Option<Kept> {
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}

fn write(file: &Path, kept: &Kept) -> io::Result<()> {
    let text = serde_json::to_vec(kept).map_err(io::Error::other)?;
    // Under another name first, so that a crash leaves the old one or the new one.
    let draft = crate::dev::lock::beside(file, "new");
    std::fs::write(&draft, text)?;
    std::fs::rename(&draft, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_outlives_the_process_and_never_speaks_for_another_stream() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("stream.json");
        Checkpoints::open(Some(file.clone()), "arn:1").keep("shard", "100");
        let again = Checkpoints::open(Some(file.clone()), "arn:1");
        assert_eq!(again.after("shard").as_deref(), Some("100"));
        assert_eq!(Checkpoints::open(Some(file), "arn:2").after("shard"), None);
    }

    #[test]
    fn a_broken_or_missing_file_is_no_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("stream.json");
        let open = || Checkpoints::open(Some(file.clone()), "arn:1");
        assert_eq!(open().after("shard"), None);
        std::fs::write(&file, b"{\"stream\":").unwrap();
        assert_eq!(open().after("shard"), None);
        open().keep("shard", "100");
        open().forget("shard");
        assert_eq!(open().after("shard"), None);
    }
}
