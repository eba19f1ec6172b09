//! How the variants of one study look: each as always, and no two alike.

use std::collections::BTreeMap;

use super::palette::{LineStyle, claim, spare, variant};

/// The looks of the names that charts have in common. Whoever has the better claim keeps what
/// [`variant`] says, and whoever looks like another to some eyes gets the next style that is free; the order of
/// names decides, never chance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Looks {
    styles: BTreeMap<String, LineStyle>,
    /// The names as legends have them.
    order: Vec<String>,
}

impl Looks {
    /// Of these names, in the order that legends have; how they look does not depend on it.
    #[must_use]
    pub fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let order: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let ranked = order.iter().map(|name| (claim(name).rank, name.as_str()));
        let mut names: Vec<(usize, &str)> = ranked.collect();
        names.sort_unstable();
        names.dedup();
        let mut looks: BTreeMap<String, LineStyle> = BTreeMap::new();
        // Styles like none that is taken.
        let mut free: Vec<LineStyle> = spare().collect();
        let mut late = Vec::new();
        for (_, name) in names {
            let style = variant(name);
            if looks.values().any(|of| of.is_like(style)) {
                late.push(name);
            } else {
                looks.insert(name.to_owned(), style);
                free.retain(|of| !of.is_like(style));
            }
        }
        // Names that have their own keep it, so those that clash come last.
        for name in late {
            let no = |alike: &dyn Fn(&LineStyle) -> bool| !looks.values().any(alike);
            let colour_is_free = |style: &LineStyle| no(&|of| of.colour == style.colour);
            let marker_is_free = |style: &LineStyle| no(&|of| of.marker == style.marker);
            let all = || free.iter().copied();
            let style = all()
                .find(|style| colour_is_free(style) && marker_is_free(style))
                .or_else(|| all().find(colour_is_free))
                .or_else(|| all().next())
                .or_else(|| spare().find(|style| no(&|of| of == style)))
                .unwrap_or(variant(name));
            looks.insert(name.to_owned(), style);
            free.retain(|of| !of.is_like(style));
        }
        Self {
            styles: looks,
            order,
        }
    }

    /// Of what is no variant, as is told here: its colours must not be taken for those of variants in other charts.
    pub(super) fn told<const N: usize>(styles: [(&str, LineStyle); N]) -> Self {
        Self {
            order: styles.iter().map(|(name, _)| (*name).to_owned()).collect(),
            styles: styles
                .into_iter()
                .map(|(name, style)| (name.to_owned(), style))
                .collect(),
        }
    }

    /// The place of a name in legends; of those that are not known behind all others.
    #[must_use]
    pub fn place(&self, name: &str) -> usize {
        let place = self.order.iter().position(|known| known == name);
        place.unwrap_or(self.order.len())
    }

    /// Of a name, or of the longest one that it begins with (`bbr beside long cubic`); of others as always.
    #[must_use]
    pub fn style(&self, name: &str) -> LineStyle {
        let begins = |known: &&String| {
            let rest = name.strip_prefix(known.as_str());
            let next = rest.map(|rest| rest.chars().next());
            next.is_some_and(|next| next.is_none_or(|next| next == ',' || next.is_whitespace()))
        };
        let known = self
            .styles
            .keys()
            .filter(begins)
            .max_by_key(|known| known.len());
        let known = known.and_then(|known| self.styles.get(known));
        known.copied().unwrap_or_else(|| variant(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_names_look_alike() {
        let names = [
            "bbr",
            "bbr-lt",
            "bbr1",
            "bbr-v3",
            "bbr+cubic",
            "cubic",
            "cubic-hs",
            "cubic_x",
            "reno",
            "newreno",
            "copa",
            "ours",
            "pcc",
            "tcp-proxy",
            "prague",
            "vegas",
        ];
        let looks = Looks::of(names);
        let mut turned = names;
        turned.reverse();
        assert_eq!(looks.styles, Looks::of(turned).styles);
        assert_eq!(
            (looks.place("bbr-lt"), looks.place("bbr3")),
            (1, names.len())
        );
        for (place, one) in names.iter().enumerate() {
            for other in &names[..place] {
                let [a, b] = [looks.style(one), looks.style(other)];
                assert!(a.colour != b.colour, "{one} and {other}");
                assert!(!a.is_like(b), "{one} and {other}");
            }
        }
        // Who is called just so keeps what the name always has.
        for name in ["bbr", "bbr-v3", "cubic", "reno", "vegas"] {
            assert_eq!(looks.style(name), variant(name), "{name}");
        }
        assert_eq!(
            looks.style("bbr-lt beside long cubic"),
            looks.style("bbr-lt")
        );
        assert_eq!(looks.style("bbr, deep"), looks.style("bbr"));
    }

    #[test]
    fn names_that_share_a_colour_are_told_apart_on_lines_and_on_bars() {
        let usual = "cubic bbr bbr2 bbr3 reno westwood vegas illinois dctcp htcp prague vivace cdg nimbus copa lp \
                     yeah veno scalable highspeed bic hybla ledbat sprout verus";
        let ours = (0..19).map(|of| format!("ours-{of}"));
        let names: Vec<String> = usual.split(' ').map(str::to_owned).chain(ours).collect();
        let looks = Looks::of(names.iter().map(String::as_str));
        for (place, one) in names.iter().enumerate() {
            for other in &names[..place] {
                let [a, b] = [looks.style(one), looks.style(other)];
                assert!(!a.is_like(b), "{one} and {other}: {a:?} {b:?}");
            }
        }
    }

    #[test]
    fn more_names_than_that_differ_still() {
        let names: Vec<String> = (0..120).map(|of| format!("ours-{of}")).collect();
        let looks = Looks::of(names.iter().map(String::as_str));
        for (place, one) in names.iter().enumerate() {
            for other in &names[..place] {
                assert_ne!(looks.style(one), looks.style(other), "{one} and {other}");
            }
        }
        // And when all are taken there is still one.
        let names: Vec<String> = (0..200).map(|of| format!("ours-{of}")).collect();
        let _ = Looks::of(names.iter().map(String::as_str)).style("ours-199");
    }
}
