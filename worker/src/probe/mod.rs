//! A small MCP client that asks a server for its tools before a run.
