//! The weather itself: fixed numbers, so that every run sees the same.

use schemars::JsonSchema;
use serde::Serialize;

/// Days a forecast covers when nobody says how many.
pub(crate) const DEFAULT_DAYS: u32 = 3;
/// The longest forecast there is, in days.
pub(crate) const MAX_DAYS: u32 = 7;

const CITIES: [City; 5] = [
    City {
        name: "Vienna",
        celsius: 24,
        sky: 0,
    },
    City {
        name: "Graz",
        celsius: 27,
        sky: 1,
    },
    City {
        name: "Linz",
        celsius: 22,
        sky: 2,
    },
    City {
        name: "Salzburg",
        celsius: 19,
        sky: 3,
    },
    City {
        name: "Innsbruck",
        celsius: 17,
        sky: 4,
    },
];

const SKIES: [&str; 5] = ["sunny", "partly cloudy", "cloudy", "light rain", "thunderstorms"];
const SWING: [i32; 5] = [0, 2, -1, -3, 1];

/// A city with weather.
#[derive(Debug)]
pub(crate) struct City {
    name: &'static str,
    celsius: i32,
    sky: usize,
}

/// The weather of a city now.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CurrentWeather {
    /// The city, spelled as the server spells it.
    pub(crate) city: String,
    /// Air temperature in degrees Celsius.
    pub(crate) temperature_celsius: i32,
    /// The sky in a word or two.
    pub(crate) condition: String,
}

/// The weather of a city on the coming days.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Forecast {
    /// The city, spelled as the server spells it.
    pub(crate) city: String,
    /// One entry a day, from tomorrow on.
    pub(crate) days: Vec<ForecastDay>,
}

/// One day of a forecast.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ForecastDay {
    /// Days from today; tomorrow is 1.
    pub(crate) day: u32,
    /// The lowest temperature in degrees Celsius.
    pub(crate) low_celsius: i32,
    /// The highest temperature in degrees Celsius.
    pub(crate) high_celsius: i32,
    /// The sky in a word or two.
    pub(crate) condition: String,
}

/// The names of all cities, in a fixed order.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    CITIES.iter().map(|city| city.name)
}

/// The city of that name, whatever its case and the white space around it.
pub(crate) fn find(name: &str) -> Option<&'static City> {
    CITIES.iter().find(|city| city.name.eq_ignore_ascii_case(name.trim()))
}

impl City {
    /// The weather now.
    pub(crate) fn current(&self) -> CurrentWeather {
        CurrentWeather {
            city: self.name.to_owned(),
            temperature_celsius: self.celsius,
            condition: cycle(&SKIES, self.sky).to_owned(),
        }
    }

    /// The coming `days` days, at most [`MAX_DAYS`].
    pub(crate) fn forecast(&self, days: u32) -> Forecast {
        let day = |day: u32| {
            let high = self.celsius + cycle(&SWING, self.sky + day as usize);
            ForecastDay {
                day,
                low_celsius: high - 9,
                high_celsius: high,
                condition: cycle(&SKIES, self.sky + day as usize).to_owned(),
            }
        };
        Forecast {
            city: self.name.to_owned(),
            days: (1..=days.min(MAX_DAYS)).map(day).collect(),
        }
    }
}

fn cycle<T: Copy>(items: &[T; 5], index: usize) -> T {
    items[index % items.len()]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed lookup is a failed test")]
    use super::*;

    #[test]
    fn a_city_is_found_whatever_its_case() {
        assert_eq!(find(" vienna ").unwrap().current().city, "Vienna");
        assert!(find("Atlantis").is_none());
    }

    #[test]
    fn a_forecast_is_the_same_every_time_and_never_longer_than_the_limit() {
        let graz = find("Graz").unwrap();
        assert_eq!(graz.forecast(3), graz.forecast(3));
        assert_eq!(graz.forecast(3).days[2].condition, "thunderstorms");
        assert_eq!(graz.forecast(u32::MAX).days.len(), 7);
    }
}
