//! Conversations whose numbers are at the ends of what their fields hold: lengths that only a record says, an MSS of a
//! byte, ids and numbers that jump half around, times centuries apart.

use proptest::prelude::*;
use proptest::sample::select;

use super::checks::pipeline;
use super::packets::RAW_IP;
use super::properties::config;
use super::wire::{Ipv4, block, packet_block, section_block, tcp};

/// A packet, as far as it is not what the ones before make it.
#[derive(Clone, Debug)]
struct Step {
    backwards: bool,
    /// Time since the one before, or the time itself, in ns.
    waits_ns: Result<i64, u64>,
    /// SYN, FIN, RST and ECN bits, mostly none.
    flags: u8,
    payload_len: u32,
    /// What is added to the numbers that would be next.
    seq_off: u32,
    ack_off: u32,
    id_off: u16,
    /// Original length where the IP header says 0.
    frame_len: Option<u32>,
    /// What is added to a clock of milliseconds, and to what it would echo.
    clocks: Option<(u32, u32)>,
    /// Offsets from the ACK, and lengths.
    blocks: Vec<(u32, u32)>,
    window: u16,
}

#[derive(Clone, Debug)]
struct Conversation {
    begins_ns: u64,
    mss: u16,
    window_scale: u8,
    steps: Vec<Step>,
}

fn conversation() -> impl Strategy<Value = Conversation> {
    let begins_ns = select(vec![
        0,
        1_700_000_000_000_000_000,
        u64::MAX / 2,
        4_600_000_000_000_000_000,
    ]);
    let mss = select(vec![0, 1, 2, 3, 13, 100, 536, 1460, u16::MAX]);
    let steps = prop::collection::vec(step(), 3..60);
    (begins_ns, mss, 0..20_u8, steps).prop_map(|(begins_ns, mss, window_scale, steps)| {
        Conversation {
            begins_ns,
            mss,
            window_scale,
            steps,
        }
    })
}

fn step() -> impl Strategy<Value = Step> {
    let waits_ns = prop_oneof![
        30 => (-1_000_000..30_000_000_i64).prop_map(Ok),
        2 => (0..100_000_000_000_i64).prop_map(Ok),
        1 => select(vec![0, 1 << 62, 1 << 63, u64::MAX]).prop_map(Err),
    ];
    let flags = prop_oneof![12 => Just(0), 1 => select(vec![1_u8, 2, 4, 0xc0])];
    let payload_len = select(vec![
        0, 0, 0, 1, 2, 536, 1448, 1448, 1460, 2896, 32_767, 32_768, 65_000,
    ]);
    let jump = |near: u32| {
        prop_oneof![
            10 => Just(0),
            2 => (0..2 * near).prop_map(move |off| off.wrapping_sub(near)),
            1 => select(vec![1 << 30, (1 << 30) - 1, 1 << 31, 0xc000_0000, 0xffff_0000]),
        ]
    };
    let id_off = select(vec![0, 1, 1, 1, 1, 2, 5, 1000, 32_768, 40_000, u16::MAX]);
    let frame_len = prop_oneof![
        10 => Just(None),
        1 => select(vec![70_000, 131_112, 1 << 24, 1 << 30, 1 << 31, u32::MAX]).prop_map(Some),
    ];
    let clocks = prop::option::of((select(vec![0, 0, 0, 1, 1 << 31]), 0..300_u32));
    let block = (jump(6000), select(vec![0, 1, 1448, 2896, u32::MAX]));
    let blocks = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(block, 1..3)];
    let numbers = (payload_len, jump(5000), jump(9000), id_off);
    let rest = (frame_len, clocks, blocks, select(vec![0, 1, 500, u16::MAX]));
    (any::<bool>(), waits_ns, flags, numbers, rest).prop_map(
        |(backwards, waits_ns, flags, numbers, rest)| Step {
            backwards,
            waits_ns,
            flags,
            payload_len: numbers.0,
            seq_off: numbers.1,
            ack_off: numbers.2,
            id_off: numbers.3,
            frame_len: rest.0,
            clocks: rest.1,
            blocks: rest.2,
            window: rest.3,
        },
    )
}

/// The conversation as a pcapng file, of which times are 64 bits.
fn capture(conversation: &Conversation) -> Vec<u8> {
    // A link type, no snap length, ticks of 10^-9 s, and the end of options.
    let link = u32::from(RAW_IP).to_le_bytes();
    let interface = [link, [0; 4], [9, 0, 1, 0], [9, 0, 0, 0], [0; 4]];
    let mut file = [section_block(), block(1, interface.as_flattened())].concat();
    let mut at_ns = conversation.begins_ns;
    let (mut next, mut ids) = ([1000_u32, 77], [0_u16, 0]);
    for (index, step) in conversation.steps.iter().enumerate() {
        at_ns = match step.waits_ns {
            Ok(ns) => at_ns.wrapping_add_signed(ns),
            Err(time_ns) => time_ns,
        };
        // It begins with a SYN and its answer, and goes on as it likes.
        let way = if index < 2 {
            index
        } else {
            step.backwards.into()
        };
        let mut step = step.clone();
        if index < 2 {
            step.flags = 2;
        }
        ids[way] = ids[way].wrapping_add(step.id_off);
        let seq = next[way].wrapping_add(step.seq_off);
        let ack = next[1 - way].wrapping_add(step.ack_off);
        let options = options(conversation, &step, ack, (at_ns / 1_000_000) as u32);
        let packet = packet(&step, way, (seq, ack), (ids[way], index > 0), &options);
        let whole_len = packet.len() as u32 + step.payload_len;
        let original_len = step.frame_len.unwrap_or(whole_len);
        file.extend(packet_block(0, at_ns, &packet, original_len));
        if step.frame_len.is_none() {
            let takes = step.payload_len + u32::from(step.flags & 3 != 0);
            let end = seq.wrapping_add(takes);
            if end.wrapping_sub(next[way]) < 1 << 31 {
                next[way] = end;
            }
        }
    }
    file
}

fn options(conversation: &Conversation, step: &Step, ack: u32, clock: u32) -> Vec<u8> {
    let mut options = Vec::new();
    if step.flags & 2 != 0 {
        options.extend([2, 4]);
        options.extend(conversation.mss.to_be_bytes());
        options.extend([4, 2, 1, 1, 3, 3, conversation.window_scale, 1]);
    } else if !step.blocks.is_empty() {
        options.extend([1, 1, 5, 2 + 8 * step.blocks.len() as u8]);
        for &(off, len) in &step.blocks {
            let start = ack.wrapping_add(off);
            options.extend(start.to_be_bytes());
            options.extend(start.wrapping_add(len).to_be_bytes());
        }
    }
    if let Some((ahead, behind)) = step.clocks {
        options.extend([1, 1, 8, 10]);
        options.extend(clock.wrapping_add(ahead).to_be_bytes());
        options.extend(clock.wrapping_sub(behind).to_be_bytes());
    }
    options
}

/// The headers, which are all that is captured of it.
fn packet(
    step: &Step,
    way: usize,
    (seq, ack): (u32, u32),
    (id, answers): (u16, bool),
    options: &[u8],
) -> Vec<u8> {
    let tcp_len = 20 + options.len();
    let length = match step.frame_len {
        Some(_) => 0,
        None => (20 + tcp_len as u32 + step.payload_len) as u16,
    };
    let (mut hosts, mut ports) = ([[10, 0, 0, 1], [10, 0, 0, 2]], [80, 1024]);
    hosts.rotate_left(way);
    ports.rotate_left(way);
    let ip = Ipv4 {
        id,
        ..Ipv4::tcp(hosts)
    };
    let flags = step.flags | if answers { 0x10 } else { 0 };
    let tcp = tcp(ports, [seq, ack], flags, step.window, options);
    [ip.header(length), tcp].concat()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn numbers_at_the_ends_of_their_fields_break_nothing(conversation in conversation()) {
        pipeline(&capture(&conversation));
    }
}
