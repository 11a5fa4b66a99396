//! Undoes the content encoding of the copy, piece by piece.

use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;

/// The most that is decoded of one body, in bytes: more than any API takes or gives. What is beyond it is not looked at, so that a
/// small body that decodes to very much holds up nobody.
const MOST: usize = 32 * 1024 * 1024;

/// The largest window of zstd, as a power of two: 8 MiB, more than which no sender may ask for (RFC 9659, section 3). A decoder holds
/// as much memory.
const WINDOW_LOG: u32 = 23;

/// What was decoded and not handed on yet; refuses what is too much.
#[derive(Debug)]
pub(super) struct Decoded {
    bytes: Vec<u8>,
    left: usize,
}

impl Default for Decoded {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            left: MOST,
        }
    }
}

impl Write for Decoded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self
            .left
            .checked_sub(bytes.len())
            .ok_or_else(|| io::Error::other("it decodes to too much"))?;
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Decodes a body as its pieces come. A body that cannot be decoded yields what could be, and then nothing.
pub(super) enum Decoder {
    /// Not encoded.
    Plain,
    /// `deflate`, before its first byte: some senders leave the zlib header out.
    Deflate,
    Zlib(ZlibDecoder<Decoded>),
    RawDeflate(DeflateDecoder<Decoded>),
    Gzip(MultiGzDecoder<Decoded>),
    Brotli(Box<DecompressorWriter<Decoded>>),
    Zstd(zstd::stream::write::Decoder<'static, Decoded>),
    /// An encoding that is not known, or a body that broke it.
    Opaque,
}

impl Decoder {
    /// The decoder for a response with these headers.
    pub(super) fn new(headers: &HeaderMap) -> Self {
        let mut encodings = headers
            .get_all(CONTENT_ENCODING)
            .iter()
            .flat_map(|value| value.to_str().unwrap_or("?").split(','))
            .map(|name| name.trim().to_ascii_lowercase())
            .filter(|name| !name.is_empty() && name != "identity");
        let (first, second) = (encodings.next(), encodings.next());
        match (first.as_deref(), second) {
            (None, _) => Self::Plain,
            (Some("gzip" | "x-gzip"), None) => Self::Gzip(MultiGzDecoder::new(Decoded::default())),
            (Some("deflate"), None) => Self::Deflate,
            (Some("br"), None) => Self::Brotli(Box::new(DecompressorWriter::new(Decoded::default(), 16 * 1024))),
            (Some("zstd"), None) => {
                let decoder = zstd::stream::write::Decoder::new(Decoded::default());
                let bounded = decoder.and_then(|mut decoder| decoder.window_log_max(WINDOW_LOG).map(|()| decoder));
                bounded.map_or(Self::Opaque, Self::Zstd)
            }
            _ => Self::Opaque,
        }
    }

    /// Decodes one more piece and hands on what it yields.
    pub(super) fn feed(&mut self, piece: &[u8], mut take: impl FnMut(&[u8])) {
        if matches!(self, Self::Plain) {
            return take(piece);
        }
        // A small piece can decode to very much: it is decoded and handed on in steps, so that memory stays bounded.
        for step in piece.chunks(4096) {
            let Some(decoded) = self.step(step) else {
                *self = Self::Opaque;
                return;
            };
            take(&decoded);
        }
    }

    fn step(&mut self, step: &[u8]) -> Option<Vec<u8>> {
        fn run<W: Write>(decoder: &mut W, step: &[u8], out: impl FnOnce(&mut W) -> &mut Decoded) -> Option<Vec<u8>> {
            decoder.write_all(step).and_then(|()| decoder.flush()).ok()?;
            Some(std::mem::take(&mut out(decoder).bytes))
        }
        if matches!(self, Self::Deflate) {
            // RFC 1950, section 2.2: the low four bits of the first byte of a zlib stream are 8.
            *self = match step.first()? & 0x0f {
                8 => Self::Zlib(ZlibDecoder::new(Decoded::default())),
                _ => Self::RawDeflate(DeflateDecoder::new(Decoded::default())),
            };
        }
        match self {
            Self::Plain => Some(step.to_vec()),
            Self::Deflate | Self::Opaque => None,
            Self::Zlib(decoder) => run(decoder, step, ZlibDecoder::get_mut),
            Self::RawDeflate(decoder) => run(decoder, step, DeflateDecoder::get_mut),
            Self::Gzip(decoder) => run(decoder, step, MultiGzDecoder::get_mut),
            Self::Brotli(decoder) => run(decoder.as_mut(), step, DecompressorWriter::get_mut),
            Self::Zstd(decoder) => run(decoder, step, zstd::stream::write::Decoder::get_mut),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn decoded(encoding: &str, body: &[u8], piece: usize) -> Vec<u8> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_ENCODING, encoding.parse().unwrap());
        let mut decoder = Decoder::new(&headers);
        let mut all = Vec::new();
        for piece in body.chunks(piece) {
            decoder.feed(piece, |bytes| all.extend_from_slice(bytes));
        }
        all
    }

    #[test]
    fn every_encoding_is_undone_byte_by_byte_and_at_once() {
        use flate2::Compression;
        let text = b"data: {\"type\":\"message_start\"}\n\n".repeat(50);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(&text).unwrap();
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(&text).unwrap();
        let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), Compression::default());
        raw.write_all(&text).unwrap();
        // The same text as Node's zlib encodes it; this crate only decodes brotli.
        let brotli = "1b3f06f89d07b6cd287f6363caed44be54a0db6b119dafbe0592972265702dc8220599a62d38e1052140653dd1bd764e";
        for (encoding, body) in [
            ("gzip", gzip.finish().unwrap()),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", raw.finish().unwrap()),
            ("br", hex::decode(brotli).unwrap()),
            ("zstd", zstd::encode_all(&text[..], 3).unwrap()),
            ("identity", text.clone()),
        ] {
            assert_eq!(decoded(encoding, &body, 1), text, "{encoding}");
            assert_eq!(decoded(encoding, &body, body.len()), text, "{encoding}");
        }
    }

    #[test]
    fn what_cannot_be_decoded_yields_nothing() {
        assert_eq!(decoded("compress", b"abc", 1), b"");
        assert_eq!(decoded("gzip, br", b"abc", 1), b"");
        assert_eq!(decoded("gzip", b"this is no gzip", 3), b"");
    }

    #[test]
    fn a_window_that_takes_very_much_memory_is_not_held() {
        let body = |window_log| {
            let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
            encoder.window_log(window_log).unwrap();
            encoder.write_all(b"hello").unwrap();
            encoder.finish().unwrap()
        };
        assert_eq!(decoded("zstd", &body(WINDOW_LOG), 7), b"hello");
        assert_eq!(decoded("zstd", &body(27), 7), b"");
    }

    #[test]
    fn a_body_that_decodes_to_very_much_is_left_before_it_takes_memory_or_time() {
        let zeros = vec![0; 4 * MOST];
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(&zeros).unwrap();
        for (encoding, body) in [
            ("gzip", gzip.finish().unwrap()),
            ("zstd", zstd::encode_all(&zeros[..], 3).unwrap()),
        ] {
            assert!(decoded(encoding, &body, body.len()).len() <= MOST, "{encoding}");
        }
    }
}
