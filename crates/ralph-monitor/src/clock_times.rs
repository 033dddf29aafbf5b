//! Times of day for many lines at once.

use ralph_rules::record::Ms;
use ralph_view::fact_text::clock_time;

const MINUTE: Ms = 60_000;

/// Times of day in a zone. Looking a zone up takes long, and lines next to each other are mostly of the same minute, which
/// begins at the same moment in every zone.
pub struct ClockTimes<'a> {
    zone: &'a str,
    /// A minute since 1970, and its hours and minutes in the zone.
    last: Option<(Ms, String)>,
}

impl<'a> ClockTimes<'a> {
    /// In this zone.
    pub fn new(zone: &'a str) -> ClockTimes<'a> {
        ClockTimes { zone, last: None }
    }

    /// The time of a line; one without a moment has dashes.
    pub fn of(&mut self, at: Option<Ms>) -> String {
        let Some(at) = at else { return "--:--:--".into() };
        let minute = at.div_euclid(MINUTE);
        if let Some((_, text)) = self.last.as_ref().filter(|(last, _)| *last == minute) {
            return format!("{text}:{:02}", at.rem_euclid(MINUTE) / 1_000);
        }
        let time = clock_time(at, self.zone);
        self.last = time.get(..5).map(|text| (minute, text.to_owned()));
        time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_each_moment() {
        let start = 1_794_897_730_000;
        for zone in ["UTC", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns", "no such zone"] {
            let mut times = ClockTimes::new(zone);
            for at in (0..400).map(|step| start + step * 700).chain([start, -1, 0]) {
                assert_eq!(times.of(Some(at)), clock_time(at, zone), "{at} in {zone}");
            }
            assert_eq!(times.of(None), "--:--:--");
        }
    }
}
