//! Times as ISO 8601 has them.

use crate::dtype::Unit;
use alloc::format;
use alloc::string::{String, ToString};

/// Units in a second, and digits of its fraction.
fn per_second(unit: Unit) -> (i128, usize) {
    match unit {
        Unit::Milli => (1_000, 3),
        Unit::Micro => (1_000_000, 6),
        Unit::Nano => (1_000_000_000, 9),
        _ => (1, 0),
    }
}

/// A count of units (seconds or a fraction of them) since 1970 as date and time of day, in the proleptic Gregorian calendar.
/// `NaT` is the count that NumPy takes for no time.
pub fn text(count: i64, unit: Unit) -> String {
    if count == i64::MIN {
        return "NaT".into();
    }
    let (per, digits) = per_second(unit);
    let (seconds, rest) = (i128::from(count).div_euclid(per), i128::from(count).rem_euclid(per));
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
    if digits == 0 { date } else { format!("{date}.{rest:0digits$}") }
}

/// As [`text`], with `Z` behind what is in UTC.
pub fn zoned(count: i64, unit: Unit, utc: bool) -> String {
    text(count, unit) + if utc && count != i64::MIN { "Z" } else { "" }
}

/// A time that was read.
#[derive(Debug, PartialEq)]
pub struct Read {
    /// Nanoseconds since 1970, in UTC where there is a zone.
    nanos: i128,
    /// Digits of the fraction of a second, zeros at the end included.
    pub digits: usize,
    /// Whether there is a time zone.
    pub zone: bool,
}

/// Digits alone, as a number.
fn number(text: &str) -> Option<i128> {
    text.bytes().all(|c| c.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Reads `DATE`, or `DATE` and a time of day after `T` or a space, with `Z` or an offset such as `+01:00`, or without one.
pub fn read(text: &str) -> Option<Read> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let (date, clock) = rest.split_once(['T', 't', ' ']).unwrap_or((rest, ""));
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || year.len() < 4 || year.len() > 12 || month.len() != 2 || day.len() != 2 {
        return None;
    }
    let (year, month, day) = (sign * number(year)?, number(month)?, number(day)?);
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let days_of = match month {
        2 => 28 + i128::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=days_of).contains(&day) {
        return None;
    }
    let (clock, offset) = zone(clock)?;
    let (seconds, fraction, digits) = of_day(clock)?;
    // Years that begin in March, in eras of 400.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let days =
        146_097 * era + 365 * of_era + of_era / 4 - of_era / 100 + (153 * month + 2) / 5 + day - 1 - 719_468;
    let seconds = 86_400 * days + seconds - offset.unwrap_or(0);
    Some(Read { nanos: seconds * 1_000_000_000 + fraction, digits, zone: offset.is_some() })
}

/// A time of day without its zone, and the seconds that the zone is ahead of UTC.
fn zone(clock: &str) -> Option<(&str, Option<i128>)> {
    if let Some(clock) = clock.strip_suffix(['Z', 'z']) {
        return Some((clock.trim_end(), Some(0)));
    }
    let Some(at) = clock.rfind(['+', '-']) else { return Some((clock, None)) };
    let (clock, offset) = clock.split_at_checked(at)?;
    let digits: String = offset.chars().skip(1).filter(|c| *c != ':').collect();
    let (hours, minutes) = match digits.len() {
        2 => (number(&digits)?, 0),
        4 => (number(digits.get(..2)?)?, number(digits.get(2..)?)?),
        _ => return None,
    };
    let ahead = 3_600 * hours + 60 * minutes;
    let fits = hours < 24 && minutes < 60 && !clock.is_empty();
    fits.then_some((clock.trim_end(), Some(if offset.starts_with('-') { -ahead } else { ahead })))
}

/// Seconds since midnight, nanoseconds, and the digits of the fraction; of no text, midnight.
fn of_day(clock: &str) -> Option<(i128, i128, usize)> {
    if clock.is_empty() {
        return Some((0, 0, 0));
    }
    let (clock, fraction) = match clock.split_once('.') {
        Some((clock, fraction)) if !fraction.is_empty() => (clock, fraction),
        Some(_) => return None,
        None => (clock, ""),
    };
    let mut parts = clock.split(':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next().unwrap_or("00"));
    if parts.next().is_some() || [hour, minute, second].iter().any(|part| part.len() != 2) {
        return None;
    }
    let (hour, minute, second) = (number(hour)?, number(minute)?, number(second)?);
    // What is finer than a nanosecond would be lost.
    let (nanos, finer) = fraction.split_at_checked(fraction.len().min(9))?;
    if hour > 23 || minute > 59 || second > 59 || finer.bytes().any(|c| c != b'0') {
        return None;
    }
    let nanos = if nanos.is_empty() { 0 } else { number(&format!("{nanos:0<9}"))? };
    Some((3_600 * hour + 60 * minute + second, nanos, fraction.len()))
}

/// The count of units since 1970 that a text says; `zone` is whether its column is in UTC.
///
/// # Errors
/// Why it says none.
pub fn count(text: &str, unit: Unit, zone: bool) -> Result<i64, String> {
    if text == "NaT" {
        return Ok(i64::MIN);
    }
    let read = read(text).ok_or("is no time such as 2001-02-03T04:05:06")?;
    match (read.zone, zone) {
        (true, false) => return Err("has a time zone, and its column has none".to_string()),
        (false, true) => return Err("has no time zone (Z or +01:00), but its column is in UTC".to_string()),
        _ => {}
    }
    let nanos = 1_000_000_000 / per_second(unit).0;
    match read.nanos % nanos {
        // The least count stands for no time.
        0 => i64::try_from(read.nanos / nanos)
            .ok()
            .filter(|n| *n != i64::MIN)
            .ok_or("is too far from 1970".to_string()),
        _ => Err(format!("is finer than the unit of its column, {}", unit.name())),
    }
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
            (i64::MIN + 1, Unit::Nano, "1677-09-21T00:12:43.145224193"),
            (-62_167_219_200, Unit::Second, "0000-01-01T00:00:00"),
            (-62_167_219_201, Unit::Second, "-0001-12-31T23:59:59"),
        ] {
            assert_eq!(text(count, unit), wanted);
            assert_eq!(super::count(wanted, unit, false), Ok(count));
        }
        for unit in [Unit::Second, Unit::Milli, Unit::Micro, Unit::Nano] {
            for count in [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX] {
                assert_eq!(super::count(&text(count, unit), unit, false), Ok(count));
            }
        }
    }

    #[test]
    fn as_others_write_them() {
        for (text, wanted) in [
            ("2001-01-01", 978_307_200_000),
            ("2001-01-01 00:00", 978_307_200_000),
            ("2001-01-01 00:00:00.5000000000", 978_307_200_500),
        ] {
            assert_eq!(count(text, Unit::Milli, false), Ok(wanted), "{text}");
        }
        for text in [
            "2001-01-01T00:00:00.5Z",
            "2001-01-01 01:00:00.50+01:00",
            "2000-12-31 22:00:00.5-02",
            "2001-01-01T05:30:00.5 +0530",
        ] {
            assert_eq!(count(text, Unit::Milli, true), Ok(978_307_200_500), "{text}");
        }
        for bad in [
            "2001-02-29T00:00:00",
            "2001-01-01T24:00:00",
            "2001-13-01",
            "2001-1-1",
            "",
            "-",
            "2001-01-01T00:00:00.",
            "2001-01-01T00:00:00.5",
            "2001-01-01T00:00:00Z",
            "2001-01-01+01",
            "2001-01-01T00:60:00",
            "292277026597-01-01",
        ] {
            assert!(count(bad, Unit::Second, false).is_err(), "{bad}");
        }
        for zone in ["+24", "+2400", "-00:60", "+1", "+01:0", "+01:00:00", "+", "+ab", "Z+00"] {
            assert!(count(&format!("2001-01-01T00:00:00{zone}"), Unit::Second, true).is_err(), "{zone}");
        }
        assert!(count("2001-01-01T00:00:00", Unit::Second, true).unwrap_err().contains("no time zone"));
    }
}
