//! Writes capture files, right ones and wrong ones, byte by byte.

use crate::capture::ByteOrder;

fn put16(order: ByteOrder, value: u16) -> [u8; 2] {
    match order {
        ByteOrder::Little => value.to_le_bytes(),
        ByteOrder::Big => value.to_be_bytes(),
    }
}

fn put32(order: ByteOrder, value: u32) -> [u8; 4] {
    match order {
        ByteOrder::Little => value.to_le_bytes(),
        ByteOrder::Big => value.to_be_bytes(),
    }
}

/// A pcap file in the making.
pub(crate) struct Pcap {
    pub(crate) bytes: Vec<u8>,
    pub(super) nanoseconds: bool,
    /// Bytes of each record header beyond the usual 16.
    pub(super) extra_bytes: usize,
    pub(super) swap_lengths: bool,
    order: ByteOrder,
}

impl Pcap {
    pub(crate) fn new(order: ByteOrder, magic: u32) -> Self {
        Self::with_version(order, magic, (2, 4), 1)
    }

    /// Of raw IP, in little-endian order.
    pub(crate) fn raw_ip(magic: u32) -> Self {
        Self::with_version(ByteOrder::Little, magic, (2, 4), 101)
    }

    pub(super) fn with_version(
        order: ByteOrder,
        magic: u32,
        (major, minor): (u16, u16),
        link: u32,
    ) -> Self {
        let mut bytes = put32(order, magic).to_vec();
        bytes.extend(put16(order, major));
        bytes.extend(put16(order, minor));
        for field in [0, 0, 65_535, link] {
            bytes.extend(put32(order, field));
        }
        if matches!(magic, 0x1c00_01ac | 0x1c00_01ab) {
            bytes.extend(put32(order, 4711));
        }
        Self {
            bytes,
            nanoseconds: matches!(magic, 0xa1b2_3c4d | 0x1c00_01ac),
            extra_bytes: if magic == 0xa1b2_cd34 { 8 } else { 0 },
            swap_lengths: false,
            order,
        }
    }

    pub(crate) fn record(self, seconds: u32, fraction: u32, data: &[u8]) -> Self {
        let len = data.len() as u32;
        self.cut_record(seconds, fraction, data, len)
    }

    pub(crate) fn cut_record(
        self,
        seconds: u32,
        fraction: u32,
        data: &[u8],
        original_len: u32,
    ) -> Self {
        let lengths = [data.len() as u32, original_len];
        let mut file = self.header(seconds, fraction, lengths);
        file.bytes.extend(data);
        file
    }

    /// A record that has none of the bytes it claims.
    pub(super) fn lying_record(self, seconds: u32, captured_len: u32) -> Self {
        self.header(seconds, 0, [captured_len, captured_len])
    }

    fn header(mut self, seconds: u32, fraction: u32, mut lengths: [u32; 2]) -> Self {
        if self.swap_lengths {
            lengths.reverse();
        }
        for field in [seconds, fraction, lengths[0], lengths[1]] {
            self.bytes.extend(put32(self.order, field));
        }
        self.bytes
            .extend(std::iter::repeat_n(0xee, self.extra_bytes));
        self
    }
}

/// A pcapng file in the making; blocks need a section before them.
pub(super) struct Pcapng<S> {
    pub(super) bytes: Vec<u8>,
    section: S,
}

/// The section that blocks are written in.
#[derive(Clone, Copy)]
pub(super) struct Section(ByteOrder);

impl Pcapng<()> {
    pub(super) fn new() -> Self {
        Self {
            bytes: Vec::new(),
            section: (),
        }
    }
}

impl<S> Pcapng<S> {
    pub(super) fn section(self, order: ByteOrder) -> Pcapng<Section> {
        let mut body = put32(order, 0x1a2b_3c4d).to_vec();
        body.extend(put16(order, 1));
        body.extend(put16(order, 0));
        body.extend([0xff; 8]);
        Pcapng {
            bytes: self.bytes,
            section: Section(order),
        }
        .block(0x0a0d_0d0a, &body)
    }
}

impl Pcapng<Section> {
    pub(super) fn block(self, block_type: u32, body: &[u8]) -> Self {
        let length = body.len() as u32 + 12;
        self.raw_block(block_type, body, length, length)
    }

    /// A block of 40 bytes that claims other lengths.
    pub(super) fn lying_block(self, block_type: u32, start: u32, end: u32) -> Self {
        self.raw_block(block_type, &[0; 28], start, end)
    }

    pub(super) fn interface(self, link: u16, snap_len: u32, options: &[(u16, &[u8])]) -> Self {
        let order = self.section.0;
        let mut body = put16(order, link).to_vec();
        body.extend([0; 2]);
        body.extend(put32(order, snap_len));
        put_options(order, &mut body, options);
        self.block(1, &body)
    }

    pub(super) fn packet(self, interface: u32, ticks: u64, data: &[u8]) -> Self {
        let interface = put32(self.section.0, interface);
        self.any_packet(6, interface, ticks, (data, data.len() as u32), &[])
    }

    pub(super) fn packet_with(self, interface: u32, options: &[(u16, &[u8])]) -> Self {
        let interface = put32(self.section.0, interface);
        self.any_packet(6, interface, 1, (&[7; 5], 5), options)
    }

    /// The obsolete Packet Block, with a drop count.
    pub(super) fn old_packet(self, interface: u16, dropped: u16, ticks: u64, data: &[u8]) -> Self {
        let fields = [interface, dropped].map(|field| put16(self.section.0, field));
        let [[a, b], [c, d]] = fields;
        self.any_packet(2, [a, b, c, d], ticks, (data, data.len() as u32), &[])
    }

    /// A packet of 8 bytes that claims another captured length.
    pub(super) fn lying_packet(self, captured_len: u32) -> Self {
        self.any_packet(6, [0; 4], 1, (&[0; 8], captured_len), &[])
    }

    pub(super) fn simple_packet(self, original_len: u32, data: &[u8]) -> Self {
        let mut body = put32(self.section.0, original_len).to_vec();
        pad(&mut body, data);
        self.block(3, &body)
    }

    pub(super) fn statistics(self, interface: u32, if_drop: u64, os_drop: u64) -> Self {
        let order = self.section.0;
        let mut body = put32(order, interface).to_vec();
        body.extend([0; 8]);
        for (code, count) in [(5, if_drop), (7, os_drop)] {
            body.extend(put16(order, code));
            body.extend(put16(order, 8));
            let (high, low) = ((count >> 32) as u32, count as u32);
            let words = if order == ByteOrder::Big {
                [high, low]
            } else {
                [low, high]
            };
            body.extend(words.map(|word| put32(order, word)).as_flattened());
        }
        body.extend([0; 4]);
        self.block(5, &body)
    }

    fn any_packet(
        self,
        block_type: u32,
        interface: [u8; 4],
        ticks: u64,
        (data, captured_len): (&[u8], u32),
        options: &[(u16, &[u8])],
    ) -> Self {
        let order = self.section.0;
        let mut body = interface.to_vec();
        for field in [
            (ticks >> 32) as u32,
            ticks as u32,
            captured_len,
            data.len() as u32,
        ] {
            body.extend(put32(order, field));
        }
        pad(&mut body, data);
        put_options(order, &mut body, options);
        self.block(block_type, &body)
    }

    fn raw_block(mut self, block_type: u32, body: &[u8], start: u32, end: u32) -> Self {
        let order = self.section.0;
        self.bytes.extend(put32(order, block_type));
        self.bytes.extend(put32(order, start));
        self.bytes.extend(body);
        self.bytes.extend(put32(order, end));
        self
    }
}

fn put_options(order: ByteOrder, body: &mut Vec<u8>, options: &[(u16, &[u8])]) {
    for (code, value) in options {
        body.extend(put16(order, *code));
        body.extend(put16(order, value.len() as u16));
        pad(body, value);
    }
}

fn pad(body: &mut Vec<u8>, value: &[u8]) {
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}
