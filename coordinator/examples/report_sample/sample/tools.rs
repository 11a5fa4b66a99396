//! The tool list that the server gave.

/// Canonical, as it lies in the evidence.
pub(crate) const TOOL_LIST: &str = r#"[{"description":"The weather in a city at this moment.","inputSchema":{"additionalProperties":false,"properties":{"city":{"description":"Name of the city","type":"string"},"units":{"enum":["metric","imperial"],"type":"string"}},"required":["city"],"type":"object"},"name":"get_current_weather"},{"description":"The weather of the days to come.","inputSchema":{"properties":{"city":{"type":"string"},"days":{"maximum":7,"minimum":1,"type":"integer"},"stationId":{"type":"integer"}},"required":["city","days"],"type":"object"},"name":"get_forecast"},{"description":"The cities that are known.","inputSchema":{"properties":{},"type":"object"},"name":"list_cities"},{"description":"Warnings for a region.","inputSchema":{"properties":{"region":{"type":"string"}},"type":"object"},"name":"list_warnings"}]"#;

/// Its SHA-256; also stands for every other hash.
pub(super) const TOOLS_SHA256: &str = "d8a6191f0beb69110550bddd11ae9e36b15ba4106d6684c5fc8848c4ff715aa8";
