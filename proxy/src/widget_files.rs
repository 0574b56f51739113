//! The files of the built widget, compressed when it was built, out of the binary.

use std::borrow::Cow;
use std::io::Write as _;
use std::sync::OnceLock;

use brotli::CompressorWriter;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use florin_storage::StaticFile;
use sha2::{Digest as _, Sha256};

mod dist {
    use super::File;

    include!(concat!(env!("OUT_DIR"), "/dist.rs"));
}

const ASSETS: &str = "assets/";

pub(crate) struct File {
    /// The path below `dist/`.
    pub name: Cow<'static, str>,
    pub whole: Bytes,
    pub brotli: Option<Bytes>,
    pub gzip: Option<Bytes>,
    /// Computed at the first request: hashing at every request would cost more than sending.
    tag: OnceLock<String>,
}

impl File {
    /// Compresses a text once, to be sent many times.
    ///
    /// With flate2 and not with the compression of tower-http: that compresses every response again, at a speed that a
    /// response allows; these bytes are compressed once, at the best level, and their tag stays the same.
    pub(crate) fn compressed(name: &'static str, whole: String) -> Self {
        Self::compressed_at(Compression::best(), name, whole)
    }

    fn compressed_at(level: Compression, name: &'static str, whole: String) -> Self {
        let mut gzip = GzEncoder::new(Vec::new(), level);
        let written = gzip.write_all(whole.as_bytes());
        let gzip = written.and_then(|()| gzip.finish());
        Self {
            name: Cow::Borrowed(name),
            whole: whole.into(),
            brotli: None,
            gzip: gzip.ok().map(Bytes::from),
            tag: OnceLock::new(),
        }
    }

    /// A page that is kept for seconds: at the levels that cost least beside what they save.
    pub(crate) fn compressed_quickly(name: &'static str, whole: String) -> Self {
        let file = Self::compressed_at(Compression::fast(), name, whole);
        file.with_brotli(5, 18)
    }

    fn with_brotli(mut self, quality: u32, window: u32) -> Self {
        let mut brotli = CompressorWriter::new(Vec::new(), 4096, quality, window);
        let written = brotli.write_all(&self.whole);
        self.brotli = written.ok().map(|()| brotli.into_inner().into());
        self
    }

    /// The script with each `from` replaced, compressed once. With Brotli at its best level only where the build has done so:
    /// it takes a program that is not optimised a second.
    pub(crate) fn replaced(&self, from: &str, to: &str) -> Self {
        let text = str::from_utf8(&self.whole).expect("a script is text");
        let file = Self::compressed("florin.js", text.replace(from, to));
        if self.brotli.is_some() {
            return file.with_brotli(11, 22);
        }
        file
    }

    /// A file that a proxy of another version has kept.
    pub(crate) fn kept(asset: StaticFile) -> Self {
        Self {
            name: Cow::Owned(asset.name),
            whole: asset.whole.into(),
            brotli: asset.brotli.map(Bytes::from),
            gzip: None,
            tag: OnceLock::new(),
        }
    }

    /// Names the content, for `ETag`.
    pub(crate) fn tag(&self) -> &str {
        self.tag.get_or_init(|| {
            let digest = Sha256::digest(&self.whole);
            format!("\"{}\"", hex::encode(&digest[..8]))
        })
    }
}

pub(crate) fn has_widget() -> bool {
    !dist::FILES.is_empty()
}

pub(crate) fn find(name: &str) -> Option<&'static File> {
    dist::FILES.iter().find(|file| file.name == name)
}

pub(crate) fn find_asset(name: &str) -> Option<&'static File> {
    find(&format!("{ASSETS}{name}"))
}

/// The languages: tag, the texts of the list of assets as JSON, and the path of those after the choice below `dist/`.
pub(crate) fn languages() -> impl Iterator<Item = (&'static str, &'static str, String)> {
    dist::FILES.iter().filter_map(|file| {
        let name: &'static str = match &file.name {
            Cow::Borrowed(name) => name,
            Cow::Owned(_) => return None,
        };
        let stem = name.strip_prefix(ASSETS)?.strip_suffix(".json")?;
        let (tag, _) = stem.split_once(".list-")?;
        let payment = name.replace(".list-", ".payment-");
        Some((tag, str::from_utf8(&file.whole).ok()?, payment))
    })
}

pub(crate) fn static_files() -> Vec<StaticFile> {
    let files = dist::FILES.iter().filter_map(|file| {
        Some(StaticFile {
            name: file.name.strip_prefix(ASSETS)?.to_owned(),
            whole: file.whole.to_vec(),
            brotli: file.brotli.as_ref().map(|bytes| bytes.to_vec()),
        })
    });
    files.collect()
}
