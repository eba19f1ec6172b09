//! Plays a script: hosts emit, the path delivers, vantage points see.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::host::{Answer, End};
use super::script::{Fate, Fated, Host, Ids, Leg, Script, Step, What};
use super::sender::{SPACING_NS, Sender};

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) syn: bool,
    pub(crate) ack: bool,
    pub(crate) fin: bool,
    pub(crate) rst: bool,
    pub(crate) ece: bool,
    pub(crate) cwr: bool,
    pub(crate) urg: bool,
}

/// What an emission is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Without payload.
    Control,
    Data,
    KeepAlive,
    Probe,
}

/// A packet as emitted. All places in streams are offsets: 0 is the first data byte.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub(crate) host: Host,
    pub(crate) incarnation: usize,
    pub(crate) isn: [u32; 2],
    pub(crate) at_ns: i64,
    pub(crate) id: u16,
    pub(crate) start: i64,
    pub(crate) len: u32,
    pub(crate) ack: Option<i64>,
    pub(crate) flags: Flags,
    pub(crate) window: u16,
    pub(crate) sack: Vec<(i64, i64)>,
    /// The first block is a DSACK.
    pub(crate) dsack: bool,
    pub(crate) ts_value: u32,
    pub(crate) ts_echo: u32,
    pub(crate) ect: bool,
    pub(crate) kind: Kind,
    /// All its bytes were emitted before.
    pub(crate) rtx: bool,
    pub(crate) group: Option<usize>,
    pub(crate) fates: Vec<Fated>,
}

/// One packet at one vantage point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) at_ns: i64,
    /// Index of the emission.
    pub(crate) packet: usize,
    pub(crate) ce: bool,
}

/// All that happened.
#[derive(Debug, Default)]
pub(crate) struct Played {
    /// In the order of emission.
    pub(crate) packets: Vec<Packet>,
    /// By vantage point, in the order of time.
    pub(crate) seen: [Vec<Seen>; 3],
}

enum Event {
    Step(usize),
    /// At position 0, 1 or 2.
    At(usize, Seen),
    Answer(Host, Answer),
    Timer(Host, u64),
    /// The sender that decides for itself looks what there is to do.
    Look,
}

struct World<'s> {
    script: &'s Script,
    ends: [End; 2],
    ids: [u16; 2],
    incarnation: usize,
    isn: [u32; 2],
    events: Vec<Option<Event>>,
    queue: BinaryHeap<Reverse<(i64, usize)>>,
    played: Played,
    last_emitted: Vec<(Host, i64, i64)>,
    sender: Option<Sender>,
}

/// Plays a script to its end.
pub(crate) fn play(script: &Script) -> Result<Played, String> {
    let mut world = World {
        script,
        ends: [End::new(script.window), End::new(script.window)],
        ids: script.last_ids,
        incarnation: 0,
        isn: script.isn,
        events: Vec::new(),
        queue: BinaryHeap::new(),
        played: Played::default(),
        last_emitted: Vec::new(),
        sender: None,
    };
    for (index, step) in script.steps.iter().enumerate() {
        world.schedule(step.at_ns, Event::Step(index));
    }
    while let Some(Reverse((now, index))) = world.queue.pop() {
        match world.events[index].take() {
            Some(Event::Step(step)) => world.step(now, &script.steps[step])?,
            Some(Event::At(position, seen)) => world.arrive(now, position, seen),
            Some(Event::Answer(host, answer)) => world.answer(now, host, answer),
            Some(Event::Timer(host, timer)) => {
                let end = &world.ends[host.index()];
                if end.timer == timer && end.waiting > 0 {
                    world.answer(now, host, Answer::Ack);
                }
            }
            Some(Event::Look) => world.look(now)?,
            None => {}
        }
    }
    Ok(world.played)
}

impl World<'_> {
    fn schedule(&mut self, at_ns: i64, event: Event) {
        self.queue.push(Reverse((at_ns, self.events.len())));
        self.events.push(Some(event));
    }

    fn step(&mut self, now: i64, step: &Step) -> Result<(), String> {
        let end = &mut self.ends[step.host.index()];
        let mut flags = Flags {
            ack: end.peer_known,
            fin: step.fin,
            cwr: step.cwr,
            urg: step.urg,
            ..Flags::default()
        };
        let mut kind = Kind::Control;
        let (mut start, mut len) = (end.next + i64::from(end.fin), 0);
        match step.what {
            What::Window(bytes) => {
                end.window = bytes;
                return Ok(());
            }
            What::Incarnation(a, b) => {
                let window = self.script.window;
                self.ends = [End::new(window), End::new(window)];
                self.isn = [a, b];
                self.incarnation += 1;
                return Ok(());
            }
            What::Ack => {}
            What::Syn | What::SynAck => {
                flags.syn = true;
                flags.ack = step.what == What::SynAck;
                start = -1;
            }
            What::SynData(bytes) => {
                flags.syn = true;
                (kind, start, len) = (Kind::Data, 0, bytes);
            }
            What::Fin => (flags.fin, start) = (true, end.next),
            What::Rst => flags.rst = true,
            What::Data(first, bytes) => (kind, start, len) = (Kind::Data, first, bytes),
            What::KeepAlive(bytes) => (kind, start, len) = (Kind::KeepAlive, end.next - 1, bytes),
            What::Probe(0) => (kind, start) = (Kind::Probe, end.next - 1),
            What::Probe(bytes) => (kind, len) = (Kind::Probe, bytes),
        }
        let stop = start + i64::from(len);
        let rtx = kind == Kind::Data && end.emitted.covers(start, stop);
        if kind == Kind::Data && rtx != step.rtx {
            return Err(format!(
                "line {}: bytes {start}..{stop} are marked wrongly",
                step.line
            ));
        }
        if rtx {
            let trip: i64 = self.script.delay_ns.iter().flatten().sum();
            let last = self.last_emitted.iter().rev();
            let age_ns = last
                .filter(|&&(host, first, _)| host == step.host && first == start)
                .map(|&(_, _, at)| now - at)
                .next();
            // The sender that decides for itself keeps to rules of its own.
            if step.line > 0 && !end.may_repeat(start, age_ns.unwrap_or(i64::MAX), trip) {
                return Err(format!(
                    "line {}: nothing asks to repeat {start}..{stop}",
                    step.line
                ));
            }
            end.recovery = end.recovery.max(end.next);
        }
        if kind == Kind::Data {
            end.emitted.insert(start, stop, 0);
            end.next = end.next.max(stop);
            self.last_emitted.push((step.host, start, now));
        }
        self.ends[step.host.index()].fin |= flags.fin;
        self.emit(now, step.host, flags, kind, (start, len), rtx, Some(step));
        Ok(())
    }

    fn look(&mut self, now: i64) -> Result<(), String> {
        let Some(sender) = &mut self.sender else {
            return Ok(());
        };
        if sender.is_done() {
            return Ok(());
        }
        if let Some((start, rtx, fates)) = sender.next(now) {
            let step = Step {
                at_ns: now,
                host: Host::A,
                what: What::Data(start, self.script.segment),
                rtx,
                fin: false,
                cwr: false,
                urg: false,
                group: None,
                fates,
                line: 0,
            };
            self.step(now, &step)?;
        }
        self.schedule(now + SPACING_NS, Event::Look);
        Ok(())
    }

    fn answer(&mut self, now: i64, host: Host, answer: Answer) {
        let mut flags = Flags {
            ack: true,
            ..Flags::default()
        };
        let end = &self.ends[host.index()];
        let mut start = end.next + i64::from(end.fin);
        match answer {
            Answer::Nothing => return,
            Answer::SynAck => {
                flags.syn = true;
                start = -1;
            }
            Answer::Ack => {}
            Answer::Later => {
                self.ends[host.index()].timer += 1;
                let timer = self.ends[host.index()].timer;
                self.schedule(now + self.script.ack_within_ns, Event::Timer(host, timer));
                return;
            }
        }
        self.emit(now, host, flags, Kind::Control, (start, 0), false, None);
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the parts of one packet, from two callers"
    )]
    fn emit(
        &mut self,
        now: i64,
        host: Host,
        mut flags: Flags,
        kind: Kind,
        (start, len): (i64, u32),
        rtx: bool,
        step: Option<&Step>,
    ) {
        let script = self.script;
        let end = &mut self.ends[host.index()];
        if script.ecn {
            if flags.syn {
                flags.ece = true;
                flags.cwr = !flags.ack;
            } else {
                flags.ece = end.ece;
            }
        }
        let room = if script.timestamps { 3 } else { 4 };
        let (sack, dsack) = if script.sack && !flags.syn && flags.ack {
            end.sack_blocks(room)
        } else {
            (Vec::new(), false)
        };
        let shift = script.window_scale.filter(|_| !flags.syn).unwrap_or(0);
        let id = &mut self.ids[host.index()];
        let index = self.played.packets.len();
        let others = script.ids == Ids::Shared && index.is_multiple_of(2);
        *id = id.wrapping_add(1 + u16::from(others));
        let mut fates = step.map(|step| step.fates.clone()).unwrap_or_default();
        let under = |spell: &&super::script::Spell| {
            spell.host == host && (spell.from_ns..spell.until_ns).contains(&now)
        };
        if let (None, Some(sender)) = (step, &mut self.sender) {
            fates = sender.ack_fates();
        }
        fates.extend(script.spells.iter().filter(under).map(|spell| spell.fated));
        let packet = Packet {
            host,
            incarnation: self.incarnation,
            isn: self.isn,
            at_ns: now,
            id: match script.ids {
                Ids::Counting | Ids::Shared => *id,
                Ids::Random => (index as u32 + 1)
                    .wrapping_mul(2_654_435_761)
                    .rotate_left(9) as u16,
                Ids::Zero | Ids::Absent => 0,
            },
            start,
            len,
            ack: flags.ack.then_some(end.rcv_next),
            flags,
            window: (end.window >> shift).min(65535) as u16,
            sack,
            dsack,
            ts_value: 1_000_000 + (now / 1_000_000) as u32 + host.index() as u32 * 77_000,
            ts_echo: end.ts_recent,
            ect: script.ecn && len > 0 && !rtx,
            kind,
            rtx,
            group: step.and_then(|step| step.group),
            fates,
        };
        end.last_ack_sent = end.rcv_next;
        end.waiting = 0;
        end.timer += 1;
        self.played.packets.push(packet);
        let from = 2 * host.index();
        self.played.seen[from].push(Seen {
            at_ns: now,
            packet: index,
            ce: false,
        });
        self.send(now, index, Leg::Up, false);
    }

    /// Sends a packet along one leg.
    fn send(&mut self, now: i64, index: usize, leg: Leg, mut ce: bool) {
        let packet = &self.played.packets[index];
        let host = packet.host;
        let position = match (leg, host) {
            (Leg::Up, _) => 1,
            (Leg::Down, Host::A) => 2,
            (Leg::Down, Host::B) => 0,
        };
        let mut at_ns = now;
        let mut copy_ns = None;
        for fated in packet.fates.iter().filter(|fated| fated.leg == leg) {
            match fated.fate {
                Fate::Lost => return,
                Fate::Late(ns) => at_ns += ns,
                Fate::Held(until) => at_ns = at_ns.max(until),
                Fate::Twice(ns) => copy_ns = Some(ns),
                Fate::Ce => ce = true,
            }
        }
        at_ns += self.script.delay_ns[host.index()][leg as usize];
        for at_ns in [Some(at_ns), copy_ns.map(|ns| at_ns + ns)]
            .into_iter()
            .flatten()
        {
            let seen = Seen {
                at_ns,
                packet: index,
                ce,
            };
            self.schedule(at_ns, Event::At(position, seen));
        }
    }

    fn arrive(&mut self, now: i64, position: usize, seen: Seen) {
        self.played.seen[position].push(seen);
        let packet = &self.played.packets[seen.packet];
        let to = packet.host.peer();
        if position == 1 {
            // A copy made on the first leg meets the second leg's fates as its original does.
            self.send(now, seen.packet, Leg::Down, seen.ce);
        } else if packet.incarnation == self.incarnation {
            if let (Host::A, Some(ack), Some(plan)) = (to, packet.ack, self.script.plan) {
                if packet.flags.syn && self.sender.is_none() {
                    let trip: i64 = self.script.delay_ns.iter().flatten().sum();
                    self.sender = Some(Sender::new(plan, self.script.segment, trip));
                    self.schedule(now + 5_000_000, Event::Look);
                } else if let (false, Some(sender)) = (packet.flags.syn, &mut self.sender) {
                    sender.on_ack(ack, &packet.sack[usize::from(packet.dsack)..], now);
                }
            }
            let packet = &self.played.packets[seen.packet];
            let end = &mut self.ends[to.index()];
            let answer = end.on_arrival(packet, seen.ce, self.script.ack_every);
            if self.script.answers && answer == Answer::Later {
                self.answer(now, to, answer);
            } else if self.script.answers && answer != Answer::Nothing {
                self.schedule(now + self.script.turn_ns, Event::Answer(to, answer));
            }
        }
    }
}
