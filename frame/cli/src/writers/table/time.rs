//! Times as ISO 8601 has them.

use blosc_frame::dtype::Unit;

/// Units in a second, for the units that tables have.
fn per_second(unit: Unit) -> Option<(i64, usize)> {
    Some(match unit {
        Unit::Second => (1, 0),
        Unit::Milli => (1_000, 3),
        Unit::Micro => (1_000_000, 6),
        Unit::Nano => (1_000_000_000, 9),
        _ => return None,
    })
}

/// A count of units since 1970 as date and time of day, in the proleptic Gregorian calendar. `NaT` is the count that
/// NumPy takes for no time.
pub fn text(count: i64, unit: Unit) -> Option<String> {
    if count == i64::MIN {
        return Some("NaT".into());
    }
    let (per, digits) = per_second(unit)?;
    let (seconds, rest) = (count.div_euclid(per), count.rem_euclid(per));
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Eras of 400 years that begin in March: a leap day ends a year.
    let day = days + 719_468;
    let (era, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, late) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + 400 * era + late;
    let sign = if year < 0 { "-" } else { "" };
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let date = format!("{sign}{:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}", year.abs());
    Some(if digits == 0 { date } else { format!("{date}.{rest:0digits$}") })
}

/// A count of units in other units; `None` where it does not come out even, or is too large.
pub fn converted(count: i64, from: Unit, to: Unit) -> Option<i64> {
    // Nanoseconds in a unit.
    let nanos = |unit: Unit| -> Option<i128> {
        Some(match unit {
            Unit::Day => 86_400_000_000_000,
            Unit::Hour => 3_600_000_000_000,
            Unit::Minute => 60_000_000_000,
            unit => i128::from(1_000_000_000 / per_second(unit)?.0),
        })
    };
    let (count, to) = (i128::from(count).checked_mul(nanos(from)?)?, nanos(to)?);
    (count % to == 0).then(|| i64::try_from(count / to).ok())?
}

/// The count of units since 1970 that such a text says; `zone` is what it must end with, `Z` or nothing.
pub fn count(text: &str, unit: Unit, zone: bool) -> Option<i64> {
    let text = if zone { text.strip_suffix('Z')? } else { text };
    let (per, digits) = per_second(unit)?;
    let (date, clock) = text.split_once('T')?;
    let (clock, rest) = clock.split_once('.').unwrap_or((clock, ""));
    let number = |text: &str| text.bytes().all(|c| c.is_ascii_digit()).then(|| text.parse::<i64>().ok())?;
    let [year, month, day] = <[&str; 3]>::try_from(date.split('-').collect::<Vec<_>>()).ok()?;
    let [hour, minute, second] = <[&str; 3]>::try_from(clock.split(':').collect::<Vec<_>>()).ok()?;
    let (year, month, day) = (number(year)?, number(month)?, number(day)?);
    if rest.len() > digits || !(1..=12).contains(&month) || !(1..=31).contains(&day) || year > 9_999_999 {
        return None;
    }
    let parts = if rest.is_empty() { 0 } else { number(&format!("{rest:0<digits$}"))? };
    // Years that begin in March, in eras of 400.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let days =
        146_097 * era + 365 * of_era + of_era / 4 - of_era / 100 + (153 * month + 2) / 5 + day - 1 - 719_468;
    let seconds = 86_400 * days + 3_600 * number(hour)? + 60 * number(minute)? + number(second)?;
    let count = seconds.checked_mul(per)?.checked_add(parts)?;
    // A day or an hour that there is not would be written otherwise.
    self::text(count, unit)?.starts_with(text).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_numpy_writes_them() {
        for (count, unit, wanted) in [
            (0, Unit::Second, "1970-01-01T00:00:00"),
            (-1, Unit::Milli, "1969-12-31T23:59:59.999"),
            (1_700_000_000_000_004, Unit::Micro, "2023-11-14T22:13:20.000004"),
            (951_782_400, Unit::Second, "2000-02-29T00:00:00"),
            (-2_203_891_200, Unit::Second, "1900-03-01T00:00:00"),
            (i64::MAX, Unit::Nano, "2262-04-11T23:47:16.854775807"),
            (-62_167_219_200, Unit::Second, "0000-01-01T00:00:00"),
        ] {
            assert_eq!(text(count, unit).as_deref(), Some(wanted));
            assert_eq!(super::count(wanted, unit, false), Some(count));
        }
        assert_eq!(count("2001-01-01T00:00:00.5Z", Unit::Milli, true), Some(978_307_200_500));
        for bad in ["2001-02-29T00:00:00", "2001-01-01T24:00:00", "2001-01-01", "2001-01-01T00:00:00.5"] {
            assert_eq!(count(bad, Unit::Second, false), None, "{bad}");
        }
        for (count, from, to, wanted) in [
            (-2, Unit::Day, Unit::Second, Some(-172_800)),
            (1_500, Unit::Milli, Unit::Micro, Some(1_500_000)),
            (1_500, Unit::Milli, Unit::Second, None),
            (i64::MAX, Unit::Second, Unit::Nano, None),
            (1, Unit::Year, Unit::Second, None),
        ] {
            assert_eq!(converted(count, from, to), wanted);
        }
        assert!(text(i64::MAX, Unit::Second).is_some() && text(0, Unit::Day).is_none());
    }
}
