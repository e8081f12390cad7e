//! Order statistics: robust against the odd interrupt.

/// Middle and spread of some numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How many there are.
    pub count: usize,
    /// Half are below.
    pub median: f64,
    /// Median of the distances from the median.
    pub mad: f64,
    /// The smallest.
    pub min: f64,
    /// A tenth are below.
    pub p10: f64,
    /// A tenth are above.
    pub p90: f64,
}

impl Summary {
    /// `None` without numbers.
    pub fn of(numbers: &[f64]) -> Option<Summary> {
        let mut sorted: Vec<f64> = numbers.iter().copied().filter(|x| x.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let (median, min) = (quantile(&sorted, 0.5)?, *sorted.first()?);
        let mut away: Vec<f64> = sorted.iter().map(|x| (x - median).abs()).collect();
        away.sort_by(f64::total_cmp);
        Some(Summary {
            count: sorted.len(),
            median,
            mad: quantile(&away, 0.5)?,
            min,
            p10: quantile(&sorted, 0.1)?,
            p90: quantile(&sorted, 0.9)?,
        })
    }

    /// Spread as a fraction of the median.
    pub fn spread(&self) -> f64 {
        if self.median > 0.0 { self.mad / self.median } else { 0.0 }
    }
}

/// This part of the numbers is below.
pub fn quantile_of(numbers: &[f64], part: f64) -> Option<f64> {
    let mut sorted: Vec<f64> = numbers.iter().copied().filter(|x| x.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    quantile(&sorted, part)
}

/// Linear interpolation between neighbours of a sorted slice.
fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let at = q * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (sorted.get(at.floor() as usize)?, sorted.get(at.ceil() as usize)?);
    Some(low + (high - low) * at.fract())
}

/// Geometric mean; `None` without positive numbers.
pub fn geometric_mean(numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0u32);
    for x in numbers.into_iter().filter(|x| *x > 0.0 && x.is_finite()) {
        sum += x.ln();
        count += 1;
    }
    (count > 0).then(|| (sum / f64::from(count)).exp())
}
