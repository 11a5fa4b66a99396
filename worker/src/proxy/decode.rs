//! Undoes the content encoding of the recorded copy, as it arrives.

use std::io::{self, Write};

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// Scratch space of the brotli decoder.
const BROTLI_BUFFER: usize = 4096;

/// Decodes into `W` piece by piece, in memory bounded by the encoding's own window.
pub(super) enum Decoder<W: Write> {
    /// Not encoded.
    Identity(W),
    /// `gzip`
    Gzip(MultiGzDecoder<W>),
    /// `deflate`, until its first byte tells whether the zlib header is there.
    DeflateStart(Option<W>),
    /// `deflate` as RFC 9110 defines it.
    Zlib(ZlibDecoder<W>),
    /// `deflate` as some servers send it, without the zlib header.
    Deflate(DeflateDecoder<W>),
    /// `br`
    Brotli(Box<brotli_decompressor::DecompressorWriter<W>>),
    /// `zstd`
    Zstd(Box<zstd::stream::write::Decoder<'static, W>>),
}

/// Why a body cannot be decoded.
#[derive(Debug, thiserror::Error)]
pub(super) enum DecodeError {
    /// An encoding that is not known here.
    #[error("content encoding `{0}` cannot be read")]
    Unknown(String),
    /// The decoder could not be set up.
    #[error("decoder: {0}")]
    Setup(#[source] io::Error),
}

impl<W: Write> Decoder<W> {
    /// The decoder for a `Content-Encoding` value.
    ///
    /// # Errors
    /// More than one encoding, or one that is not gzip, deflate, br or zstd.
    pub(super) fn new(encoding: &str, sink: W) -> Result<Self, DecodeError> {
        match encoding.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(Self::Identity(sink)),
            "gzip" | "x-gzip" => Ok(Self::Gzip(MultiGzDecoder::new(sink))),
            "deflate" => Ok(Self::DeflateStart(Some(sink))),
            "br" => Ok(Self::Brotli(Box::new(brotli_decompressor::DecompressorWriter::new(
                sink,
                BROTLI_BUFFER,
            )))),
            "zstd" => {
                let decoder = zstd::stream::write::Decoder::new(sink).map_err(DecodeError::Setup)?;
                Ok(Self::Zstd(Box::new(decoder)))
            }
            other => Err(DecodeError::Unknown(other.chars().take(40).collect())),
        }
    }

    /// Decodes the next piece; everything that it holds has reached the sink afterwards.
    ///
    /// # Errors
    /// The bytes are not of this encoding, or the sink refused.
    pub(super) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Self::DeflateStart(sink) = self
            && let Some(first) = bytes.first()
            && let Some(sink) = sink.take()
        {
            // RFC 1950: the low four bits of a zlib header are the method, 8.
            *self = if first & 0x0F == 8 {
                Self::Zlib(ZlibDecoder::new(sink))
            } else {
                Self::Deflate(DeflateDecoder::new(sink))
            };
        }
        match self {
            Self::Identity(sink) => sink.write_all(bytes),
            Self::DeflateStart(_) => Ok(()),
            Self::Gzip(decoder) => through(decoder, bytes),
            Self::Zlib(decoder) => through(decoder, bytes),
            Self::Deflate(decoder) => through(decoder, bytes),
            Self::Brotli(decoder) => through(decoder, bytes),
            Self::Zstd(decoder) => through(decoder, bytes),
        }
    }

    /// The sink.
    pub(super) fn sink(&mut self) -> Option<&mut W> {
        match self {
            Self::Identity(sink) => Some(sink),
            Self::DeflateStart(sink) => sink.as_mut(),
            Self::Gzip(decoder) => Some(decoder.get_mut()),
            Self::Zlib(decoder) => Some(decoder.get_mut()),
            Self::Deflate(decoder) => Some(decoder.get_mut()),
            Self::Brotli(decoder) => Some(decoder.get_mut()),
            Self::Zstd(decoder) => Some(decoder.get_mut()),
        }
    }
}

fn through(decoder: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    decoder.write_all(bytes)?;
    decoder.flush()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn pieces(encoding: &str, encoded: &[u8], size: usize) -> Vec<u8> {
        let mut decoder = Decoder::new(encoding, Vec::new()).unwrap();
        encoded.chunks(size).for_each(|piece| decoder.push(piece).unwrap());
        std::mem::take(decoder.sink().unwrap())
    }

    #[test]
    fn every_encoding_is_decoded_from_pieces_of_any_size() {
        let plain: Vec<u8> = (0..20_000u32).flat_map(|i| (i % 251).to_le_bytes()).collect();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(&plain).unwrap();
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        zlib.write_all(&plain).unwrap();
        let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        raw.write_all(&plain).unwrap();
        let encoded = [
            ("gzip", gzip.finish().unwrap()),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", raw.finish().unwrap()),
            ("zstd", zstd::encode_all(plain.as_slice(), 3).unwrap()),
            ("identity", plain.clone()),
        ];
        for (encoding, bytes) in encoded {
            for size in [1, 7, 4096, bytes.len()] {
                assert!(
                    pieces(encoding, &bytes, size) == plain,
                    "{encoding} in pieces of {size}"
                );
            }
        }
    }

    #[test]
    fn a_flushed_event_is_decoded_before_the_stream_ends() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(b"data: one\n\n").unwrap();
        gzip.flush().unwrap();
        let sent = gzip.get_ref().clone();
        let mut decoder = Decoder::new("gzip", Vec::new()).unwrap();
        decoder.push(&sent).unwrap();
        assert_eq!(decoder.sink().unwrap(), b"data: one\n\n");
    }

    #[test]
    fn garbage_is_an_error_and_an_unknown_encoding_is_named() {
        assert!(
            Decoder::new("gzip", Vec::new())
                .unwrap()
                .push(b"not gzip at all, not at all")
                .is_err()
        );
        let Err(error) = Decoder::new("rot13", Vec::new()) else {
            unreachable!()
        };
        assert_eq!(error.to_string(), "content encoding `rot13` cannot be read");
    }
}
