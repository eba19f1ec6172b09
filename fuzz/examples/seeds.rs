//! Writes the inputs that fuzzing begins with into `fuzz/corpus/`: made from the captures of
//! `testdata/`, so nothing has to be kept beside them.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use ccanalyze::capture::{CaptureReader, CaptureSource, ReadOptions, Window};

/// Records taken of each capture: the handshake, and some data and ACKs.
const RECORDS: usize = 24;

/// One record of an Ethernet capture.
struct Packet {
    at_ns: i64,
    original_len: u32,
    bytes: Vec<u8>,
}

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let corpus = root.join("fuzz/corpus");
    let mut captures: Vec<PathBuf> = fs::read_dir(root.join("testdata/captures"))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    captures.sort();
    for (index, path) in captures.into_iter().enumerate() {
        let packets = first_packets(&path)?;
        let name = format!("capture-{index}");
        let plain = pcap(&packets, u32::to_le_bytes, index % 2 == 0);
        save(&corpus, "capture_pcap", &name, &plain)?;
        save(&corpus, "pipeline", &name, &plain)?;
        let big = pcap(&packets, u32::to_be_bytes, true);
        save(&corpus, "capture_pcap", &format!("{name}-big"), &big)?;
        let blocks = pcapng(&packets);
        save(&corpus, "capture_pcapng", &name, &blocks)?;
        save(&corpus, "pipeline", &format!("{name}-ng"), &blocks)?;
        for (kind, bytes) in compressed(&plain)? {
            save(
                &corpus,
                "capture_compressed",
                &format!("{name}-{kind}"),
                &bytes,
            )?;
        }
        for (place, packet) in packets.iter().enumerate().step_by(5) {
            for (link, bytes) in framed(&packet.bytes) {
                let mut input = link.to_le_bytes().to_vec();
                input.extend([0, 0, place as u8]);
                input.extend(bytes);
                save(&corpus, "decode", &format!("{name}-{place}-{link}"), &input)?;
            }
        }
    }
    for (index, script) in scripts().into_iter().enumerate() {
        save(&corpus, "track", &format!("script-{index}"), &script)?;
        save(
            &corpus,
            "path",
            &format!("script-{index}"),
            &crossed(&script, index),
        )?;
    }
    for (index, expression) in [
        "host 10.0.0.1 and port 443",
        "net 192.168.0.0/16 or (ip6 and not portrange 80-443)",
        "src host fd77::1 && dst port 5001 or 5002",
        "! (tcp port 80 || ip net 10.0.0.0/8)",
        "10.0.0.1 or 10.0.0.2",
    ]
    .into_iter()
    .enumerate()
    {
        save(
            &corpus,
            "filter",
            &format!("filter-{index}"),
            expression.as_bytes(),
        )?;
    }
    Ok(())
}

fn save(corpus: &Path, target: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
    let folder = corpus.join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), bytes)
}

fn first_packets(path: &Path) -> io::Result<Vec<Packet>> {
    let source = CaptureSource::File(path.to_path_buf());
    let mut reader =
        CaptureReader::open(vec![source], &ReadOptions::default()).map_err(io::Error::other)?;
    let mut window = Window::new();
    reader.read_window(&mut window).map_err(io::Error::other)?;
    Ok((0..window.len().min(RECORDS))
        .map(|index| window.record(index))
        .map(|record| Packet {
            at_ns: record.at.as_ns(),
            original_len: record.original_len,
            bytes: record.bytes.to_vec(),
        })
        .collect())
}

fn pcap(packets: &[Packet], order: fn(u32) -> [u8; 4], nanoseconds: bool) -> Vec<u8> {
    let mut file = order(if nanoseconds {
        0xa1b2_3c4d
    } else {
        0xa1b2_c3d4
    })
    .to_vec();
    let little = order(1) == [1, 0, 0, 0];
    file.extend(if little { [2, 0, 4, 0] } else { [0, 2, 0, 4] });
    for field in [0, 0, 262_144, 1] {
        file.extend(order(field));
    }
    for packet in packets {
        let fraction = packet.at_ns % 1_000_000_000 / if nanoseconds { 1 } else { 1_000 };
        for field in [
            (packet.at_ns / 1_000_000_000) as u32,
            fraction as u32,
            packet.bytes.len() as u32,
            packet.original_len,
        ] {
            file.extend(order(field));
        }
        file.extend(&packet.bytes);
    }
    file
}

/// A section, an interface in nanoseconds, packets in two kinds of block, and a block of neither.
fn pcapng(packets: &[Packet]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut block = |kind: u32, body: &[u8]| {
        let length = (12 + body.len().next_multiple_of(4)) as u32;
        file.extend(kind.to_le_bytes());
        file.extend(length.to_le_bytes());
        file.extend(body);
        file.resize(file.len().next_multiple_of(4), 0);
        file.extend(length.to_le_bytes());
    };
    let section = [
        0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    ];
    block(0x0a0d_0d0a, &section);
    block(
        1,
        &[1, 0, 0, 0, 0, 0, 4, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0],
    );
    for (index, packet) in packets.iter().enumerate() {
        let mut body = Vec::new();
        if index % 7 != 6 {
            let at = packet.at_ns as u64;
            for field in [0, (at >> 32) as u32, at as u32, packet.bytes.len() as u32] {
                body.extend(field.to_le_bytes());
            }
        }
        body.extend(packet.original_len.to_le_bytes());
        body.extend(&packet.bytes);
        block(if index % 7 == 6 { 3 } else { 6 }, &body);
    }
    // Statistics: 3 packets were dropped by the interface.
    block(
        5,
        &[
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 8, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        ],
    );
    file
}

fn compressed(plain: &[u8]) -> io::Result<[(&'static str, Vec<u8>); 4]> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(plain)?;
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(plain)?;
    let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
    lz4.write_all(plain)?;
    Ok([
        ("gz", gzip.finish()?),
        ("zst", zstd::encode_all(plain, 1)?),
        ("xz", xz.finish()?),
        ("lz4", lz4.finish().map_err(io::Error::other)?),
    ])
}

/// An Ethernet frame in other link layers and in tunnels.
fn framed(ethernet: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let (Some(kind), Some(ip)) = (ethernet.get(12..14), ethernet.get(14..)) else {
        return Vec::new();
    };
    let tagged = |tags: &[u8]| [&ethernet[..12], tags, &ethernet[12..]].concat();
    let outer = |protocol: u8, inside: &[u8]| {
        let length = (20 + inside.len()) as u16;
        let mut bytes = vec![0x45, 0];
        bytes.extend(length.to_be_bytes());
        bytes.extend([0, 1, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        bytes.extend(inside);
        bytes
    };
    let udp = |port: u16, inside: &[u8]| {
        let mut bytes = vec![0xc0, 0];
        bytes.extend(port.to_be_bytes());
        bytes.extend(((8 + inside.len()) as u16).to_be_bytes());
        bytes.extend([0, 0]);
        bytes.extend(inside);
        outer(17, &bytes)
    };
    let after = |head: &[u8]| [head, ip].concat();
    let gre = [&[0, 0], kind, ip].concat();
    let vxlan = [&[8, 0, 0, 0, 0, 0, 7, 0], ethernet].concat();
    let geneve = [&[0, 0, 0x65, 0x58, 0, 0, 7, 0], ethernet].concat();
    let gtp = [&[0x30, 0xff, 0, 60, 0, 0, 0, 1], ip].concat();
    let cooked = [&[0, 0, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0], kind, ip].concat();
    let cooked_2 = [
        kind,
        &[0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0],
        ip,
    ]
    .concat();
    let snap = [&[0xaa, 0xaa, 3, 0, 0, 0], kind, ip].concat();
    let wifi = [
        &[
            8, 1, 0, 0, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 0, 0,
        ][..],
        &snap,
    ]
    .concat();
    let radiotap = [&[0, 0, 8, 0, 0, 0, 0, 0][..], &wifi].concat();
    // The first half of the payload as a fragment.
    let mut fragment = ip.to_vec();
    if let Some(flags) = fragment.get_mut(6) {
        *flags = 0x20;
    }
    vec![
        (1, ethernet.to_vec()),
        (1, tagged(&[0x81, 0, 0, 5])),
        (1, tagged(&[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6])),
        (1, tagged(&[0x88, 0x47, 0, 0, 0x11, 0x40])),
        (1, tagged(&[0x88, 0x64, 0x11, 0, 0, 1, 0, 62, 0, 0x21])),
        (101, ip.to_vec()),
        (101, fragment),
        (101, outer(4, ip)),
        (101, outer(47, &gre)),
        (101, udp(4789, &vxlan)),
        (101, udp(6081, &geneve)),
        (101, udp(2152, &gtp)),
        (228, ip.to_vec()),
        (0, after(&[2, 0, 0, 0])),
        (9, after(&[0xff, 3, 0, 0x21])),
        (113, cooked),
        (276, cooked_2),
        (105, wifi),
        (127, radiotap),
        (10, [&[0x50; 13][..], &snap].concat()),
        (12, udp(53, ethernet)),
    ]
}

/// The packets of a script between two points: nearly all of them pass within 0.5 ms to 1 ms.
fn crossed(script: &[u8], index: usize) -> Vec<u8> {
    let mut crossings = vec![index as u8];
    let (steps, _) = script.as_chunks::<12>();
    for (place, step) in steps.iter().enumerate() {
        let back = (step[0] >> 2 & 1) << 3;
        let fate = if place % 7 == 3 { index as u8 & 7 } else { 0 };
        crossings.extend(step);
        crossings.extend([fate | back, 5 + (place % 6) as u8]);
    }
    crossings
}

/// Scripts of `tests/robust/packets.rs`: an opening, then data and ACKs with some accident.
fn scripts() -> Vec<Vec<u8>> {
    let step = |first: u8, time: u8, off: i16, options: u8| {
        let off = off.to_le_bytes();
        [
            first, time, off[0], off[1], 0, 0, 0xb4, 5, options, 3, 1, 200,
        ]
    };
    let opening = [
        step(0x18, 0, 0, 8),
        step(0x64, 10, 0, 8),
        step(0x50, 10, 0, 8),
    ];
    let data = step(0x00, 100, 0, 8);
    let ack = step(0x54, 10, 0, 8);
    // A segment sent again; one from below, as if overtaken; a SACK; a DSACK; an end; a reset.
    let accidents = [
        step(0x40, 30, -1460, 9),
        step(0x00, 50, 1460, 9),
        step(0x54, 1, -1460, 0x1a),
        step(0x54, 1, 0, 0x38),
        step(0x68, 1, 0, 8),
        step(0x70, 1, 0, 0),
        step(0x18, 1, 5000, 9),
        step(0x80, 30, 0, 8),
    ];
    accidents
        .iter()
        .map(|accident| {
            let mut steps = opening.to_vec();
            for turn in 0..6 {
                steps.extend([data, data, ack]);
                if turn % 2 == 1 {
                    steps.push(*accident);
                }
            }
            steps.concat()
        })
        .collect()
}
