//! How often something came about, with how sure that is.

use serde::Serialize;

/// A rate with what is behind it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// So many.
    pub n: u32,
    /// Of so many.
    pub of: u32,
    /// In percent; 0 of 0 is 0.
    pub percent: f64,
    /// Lower end of the 95 % interval, in percent.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Rate {
    /// With Wilson's interval, which also holds for few runs and for none or all of them.
    pub fn of(n: u32, of: u32) -> Rate {
        const Z: f64 = 1.96;
        if of == 0 {
            return Rate { n, of, percent: 0.0, low: 0.0, high: 100.0 };
        }
        let (count, p) = (f64::from(of), f64::from(n.min(of)) / f64::from(of));
        let middle = p + Z * Z / (2.0 * count);
        let half = Z * (p * (1.0 - p) / count + Z * Z / (4.0 * count * count)).sqrt();
        let scale = 1.0 + Z * Z / count;
        let percent = |x: f64| (x * 1000.0).round() / 10.0;
        let low = percent(((middle - half) / scale).max(0.0));
        Rate { n, of, percent: percent(p), low, high: percent(((middle + half) / scale).min(1.0)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_says_how_sure_it_is() {
        // Wilson's interval as published tables have it.
        let table = [
            (0, 0, 0.0, 0.0, 100.0),
            (0, 5, 0.0, 0.0, 43.4),
            (5, 5, 100.0, 56.6, 100.0),
            (7, 9, 77.8, 45.3, 93.7),
            (50, 100, 50.0, 40.4, 59.6),
        ];
        for (n, of, percent, low, high) in table {
            assert_eq!(Rate::of(n, of), Rate { n, of, percent, low, high });
        }
    }
}
