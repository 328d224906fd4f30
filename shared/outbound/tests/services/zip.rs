//! A package with one file in it, stored as it is (PKWARE APPNOTE, sections 4.3.7, 4.3.12 and 4.3.16).

use flate2::Crc;

/// The package.
pub(crate) fn of(name: &str, content: &[u8]) -> Vec<u8> {
    let mut crc = Crc::new();
    crc.update(content);
    let size = u32::try_from(content.len()).unwrap();
    let length = u16::try_from(name.len()).unwrap();
    // Version 2.0, no flags, stored, 1980-01-01.
    let mut about = Vec::new();
    for short in [20_u16, 0, 0, 0, 33] {
        about.extend(short.to_le_bytes());
    }
    for long in [crc.sum(), size, size] {
        about.extend(long.to_le_bytes());
    }
    about.extend(length.to_le_bytes());
    about.extend(0_u16.to_le_bytes());

    let mut package = b"PK\x03\x04".to_vec();
    package.extend(&about);
    package.extend(name.as_bytes());
    package.extend(content);
    let directory = u32::try_from(package.len()).unwrap();
    package.extend(b"PK\x01\x02");
    package.extend(20_u16.to_le_bytes());
    package.extend(&about);
    // No comment, first disk, no attributes but "read by all", the file at the beginning.
    package.extend([0; 6]);
    package.extend((0o100_644_u32 << 16).to_le_bytes());
    package.extend(0_u32.to_le_bytes());
    package.extend(name.as_bytes());
    let end = u32::try_from(package.len()).unwrap();
    package.extend(b"PK\x05\x06");
    package.extend([0, 0, 0, 0, 1, 0, 1, 0]);
    package.extend((end - directory).to_le_bytes());
    package.extend(directory.to_le_bytes());
    package.extend(0_u16.to_le_bytes());
    package
}

#[test]
fn a_package_ends_with_where_its_one_file_is_listed() {
    let package = of("a.txt", b"hello");
    let listed = package
        .windows(4)
        .position(|four| four == b"PK\x01\x02")
        .unwrap();
    let end = package.len() - 22;
    assert_eq!(package[end..end + 4], *b"PK\x05\x06");
    assert_eq!(
        package[end + 16..end + 20],
        u32::try_from(listed).unwrap().to_le_bytes()
    );
}
