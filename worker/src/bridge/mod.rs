//! Puts a stdio MCP server behind a local Streamable HTTP endpoint.
