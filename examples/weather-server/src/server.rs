//! The tools as MCP offers them.

use crate::climate::{self, City, CurrentWeather, DEFAULT_DAYS, Forecast, MAX_DAYS};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{Implementation, ServerCapabilities, ServerConfig};
use rmcp::{Json, ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The MCP server with its three tools.
#[derive(Debug, Clone, Default)]
pub struct WeatherServer;

#[derive(Debug, Deserialize, JsonSchema)]
struct CurrentWeatherRequest {
    /// A city that list_cities names.
    city: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ForecastRequest {
    /// A city that list_cities names.
    city: String,
    /// How many days, from tomorrow on; 3 if not given.
    #[schemars(range(min = 1, max = 7))]
    days: Option<u32>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Cities {
    /// The cities whose weather is known.
    cities: Vec<String>,
}

#[tool_router]
impl WeatherServer {
    #[tool(
        description = "Get the current weather of one city.",
        annotations(title = "Current weather", read_only_hint = true, open_world_hint = false)
    )]
    fn get_current_weather(
        &self,
        Parameters(CurrentWeatherRequest { city }): Parameters<CurrentWeatherRequest>,
    ) -> Result<Json<CurrentWeather>, String> {
        Ok(Json(known(&city)?.current()))
    }

    #[tool(
        description = "Get the weather forecast of one city for the next days (1 to 7, by default 3).",
        annotations(title = "Forecast", read_only_hint = true, open_world_hint = false)
    )]
    fn get_forecast(
        &self,
        Parameters(ForecastRequest { city, days }): Parameters<ForecastRequest>,
    ) -> Result<Json<Forecast>, String> {
        let days = days.unwrap_or(DEFAULT_DAYS);
        if !(1..=MAX_DAYS).contains(&days) {
            return Err(format!("days must be between 1 and {MAX_DAYS}, not {days}"));
        }
        Ok(Json(known(&city)?.forecast(days)))
    }

    #[tool(
        description = "List the cities whose weather is known.",
        annotations(title = "Cities", read_only_hint = true, open_world_hint = false)
    )]
    fn list_cities(&self) -> Json<Cities> {
        Json(Cities {
            cities: climate::names().map(str::to_owned).collect(),
        })
    }
}

#[tool_handler]
impl ServerHandler for WeatherServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("weather-server", env!("CARGO_PKG_VERSION")))
            .with_instructions("Weather of a few Austrian cities. The numbers are made up and never change.")
    }
}

fn known(city: &str) -> Result<&'static City, String> {
    climate::find(city).ok_or_else(|| {
        let known: Vec<_> = climate::names().collect();
        format!("unknown city {city:?}; known cities: {}", known.join(", "))
    })
}
