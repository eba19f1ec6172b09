//! Names of files as text.

use std::fmt;
use std::path::Path;

/// The name of a file for tables and messages: with escapes for bytes that are no UTF-8 (`\xff`), so that two names stay
/// two, and for characters that act on what is around them: ends of lines and other control characters (`\n`), and those
/// that turn the direction of a text around.
pub fn display_name<P: AsRef<Path> + ?Sized>(path: &P) -> DisplayName<'_> {
    DisplayName(path.as_ref())
}

/// The name of a file for people, who know `-` as standard input, and do not see an empty one.
pub(crate) fn spoken_name(path: &Path) -> DisplayName<'_> {
    display_name(match path.to_str() {
        Some("-") => Path::new("standard input"),
        Some("") => Path::new("(no name)"),
        _ => path,
    })
}

/// What [`display_name`] gives.
#[derive(Clone, Copy, Debug)]
pub struct DisplayName<'a>(&'a Path);

impl fmt::Display for DisplayName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.as_os_str().as_encoded_bytes().utf8_chunks() {
            let mut rest = chunk.valid();
            while let Some(at) = rest.find(acts) {
                f.write_str(&rest[..at])?;
                let mut letters = rest[at..].chars();
                for escape in letters.next().into_iter().flat_map(char::escape_default) {
                    fmt::Write::write_char(f, escape)?;
                }
                rest = letters.as_str();
            }
            f.write_str(rest)?;
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

/// Whether a character is not seen, but does something to those around it, wherever a text is shown: a name may hold any.
pub(crate) fn acts(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_and_do_nothing() {
        for (name, expected) in [
            ("a b/Ä-1,\"x\".pcap", "a b/Ä-1,\"x\".pcap"),
            ("x\nerror: forged\t", "x\\nerror: forged\\t"),
            (
                "\u{1b}[2J\u{202e}fdp\u{9b}",
                "\\u{1b}[2J\\u{202e}fdp\\u{9b}",
            ),
            (
                "a\u{2066}\u{200f}\u{2028}b",
                "a\\u{2066}\\u{200f}\\u{2028}b",
            ),
        ] {
            assert_eq!(display_name(name).to_string(), expected);
        }
    }

    #[cfg(unix)]
    #[test]
    fn bytes_that_are_no_text_are_told_apart() {
        use std::os::unix::ffi::OsStrExt as _;
        let name =
            |bytes: &'static [u8]| display_name(std::ffi::OsStr::from_bytes(bytes)).to_string();
        assert_eq!(name(b"a\xff.pcap"), "a\\xff.pcap");
        assert_eq!(name(b"a\xfe\xc3.pcap"), "a\\xfe\\xc3.pcap");
    }
}
