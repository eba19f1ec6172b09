//! Whatever comes, nothing breaks: checks that fuzz targets share, inputs that once broke
//! something, and properties that must hold of any packets. Needs the engine alone.

mod answers;
mod callers;
mod checks;
mod crossings;
mod extremes;
mod floods;
mod memory;
mod mutilated;
mod packets;
mod properties;
mod regressions;
mod torrents;

use packets::wire;
