//! The fixture that the conformance suite is run against: an MCP server on `rmcp` that offers everything the suite asks
//! for. Prints its URL and serves until it is killed.

#![allow(
    deprecated,
    reason = "the suite asks for logging, sampling and subscriptions of the revisions that have them"
)]
#![allow(clippy::print_stdout, reason = "whoever starts it reads its address")]

use std::time::Duration;

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A PNG of one red pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";
/// A WAV file without samples.
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";
/// Between the notifications of one tool.
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Clone)]
struct Everything;

/// The suite describes results as JSON; so does this server.
fn made<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn text(text: impl Into<String>) -> Value {
    json!({"type": "text", "text": text.into()})
}

fn image() -> Value {
    json!({"type": "image", "data": PIXEL, "mimeType": "image/png"})
}

fn embedded(uri: &str, kind: &str, text: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}})
}

fn tool(name: &str, schema: Value) -> Value {
    json!({"name": name, "description": format!("What the suite calls {name}."), "inputSchema": schema})
}

fn with_text(name: &str) -> Value {
    json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]})
}

fn tools() -> Value {
    let plain = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_tool_with_logging",
        "test_error_handling",
        "test_tool_with_progress",
        "test_elicitation_sep1034_defaults",
        "test_elicitation_sep1330_enums",
        "test_reconnection",
    ];
    let mut tools: Vec<Value> = plain
        .iter()
        .map(|name| tool(name, json!({"type": "object", "properties": {}})))
        .collect();
    tools.push(tool("test_sampling", with_text("prompt")));
    tools.push(tool("test_elicitation", with_text("message")));
    tools.push(tool("json_schema_2020_12_tool", json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
        "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
        "additionalProperties": false
    })));
    json!({"tools": tools})
}

fn titled(names: [&str; 3]) -> Value {
    names
        .iter()
        .enumerate()
        .map(|(index, title)| json!({"const": format!("value{}", index + 1), "title": title}))
        .collect()
}

fn form(name: &str) -> Value {
    match name {
        "test_elicitation_sep1034_defaults" => json!({"type": "object", "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": true},
        }}),
        "test_elicitation_sep1330_enums" => json!({"type": "object", "properties": {
            "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
            "titledSingle": {"type": "string", "oneOf": titled(["First Option", "Second Option", "Third Option"])},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled(["First Choice", "Second Choice", "Third Choice"])}},
        }}),
        _ => json!({"type": "object", "properties": {
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"},
        }, "required": ["username", "email"]}),
    }
}

impl Everything {
    /// Asks the user, through the client.
    async fn elicit(tool: &str, message: &str, context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
        let request = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: message.to_owned(),
            requested_schema: made(form(tool))?,
        };
        let answer = context.peer.create_elicitation(request).await.map_err(refused)?;
        let answer = serde_json::to_value(&answer).unwrap_or_default();
        let said = if tool == "test_elicitation" {
            "User response"
        } else {
            "Elicitation completed"
        };
        let (action, content) = (answer["action"].as_str().unwrap_or_default(), &answer["content"]);
        Ok(text(format!("{said}: action={action}, content={content}")))
    }

    async fn sample(prompt: &str, context: &RequestContext<RoleServer>) -> Result<Value, ErrorData> {
        let request = CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], 100);
        let answer = context.peer.create_message(request).await.map_err(refused)?;
        let answer = serde_json::to_value(&answer).unwrap_or_default();
        let content = &answer["content"];
        let said = content["text"]
            .as_str()
            .or_else(|| content[0]["text"].as_str())
            .unwrap_or_default();
        Ok(text(format!("LLM response: {said}")))
    }
}

fn refused(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

impl ServerHandler for Everything {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_logging()
            .enable_completions()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("conformance-fixture", "1"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        made(tools())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let argument = |name: &str| {
            let arguments = request.arguments.as_ref();
            arguments
                .and_then(|all| all.get(name))
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let name = request.name.as_ref();
        let content = match name {
            "test_simple_text" => json!([text("This is a simple text response for testing.")]),
            "test_image_content" => json!([image()]),
            "test_audio_content" => json!([{"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}]),
            "test_embedded_resource" => {
                json!([embedded(
                    "test://embedded-resource",
                    "text/plain",
                    "This is an embedded resource content."
                )])
            }
            "test_multiple_content_types" => json!([
                text("Multiple content types test:"),
                image(),
                embedded(
                    "test://mixed-content-resource",
                    "application/json",
                    r#"{"test":"data","value":123}"#
                ),
            ]),
            "test_tool_with_logging" => {
                for said in [
                    "Tool execution started",
                    "Tool processing data",
                    "Tool execution completed",
                ] {
                    let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(said));
                    context.peer.notify_logging_message(message).await.map_err(refused)?;
                    tokio::time::sleep(PAUSE).await;
                }
                json!([text("Three messages were logged.")])
            }
            "test_tool_with_progress" => {
                for done in [0.0, 50.0, 100.0] {
                    if let Some(token) = context.meta.get_progress_token() {
                        let progress = ProgressNotificationParam::new(token, done).with_total(100.0);
                        context.peer.notify_progress(progress).await.map_err(refused)?;
                    }
                    tokio::time::sleep(PAUSE).await;
                }
                json!([text("Done in three steps.")])
            }
            "test_sampling" => json!([Self::sample(&argument("prompt"), &context).await?]),
            "test_elicitation" => json!([Self::elicit(name, &argument("message"), &context).await?]),
            "test_elicitation_sep1034_defaults" | "test_elicitation_sep1330_enums" => {
                json!([Self::elicit(name, "Please fill in the form", &context).await?])
            }
            "test_reconnection" => {
                tokio::time::sleep(2 * PAUSE).await;
                json!([text("Still here.")])
            }
            "json_schema_2020_12_tool" => json!([text(format!("Hello, {}!", argument("name")))]),
            "test_error_handling" => {
                let content = [text("This tool intentionally returns an error for testing")];
                let result: CallToolResult = made(json!({"content": content, "isError": true}))?;
                return Ok(result.into());
            }
            other => return Err(ErrorData::invalid_params(format!("no tool {other}"), None)),
        };
        let result: CallToolResult = made(json!({"content": content}))?;
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        made(json!({"resources": [
            {"uri": "test://static-text", "name": "text", "description": "A text that never changes", "mimeType": "text/plain"},
            {"uri": "test://static-binary", "name": "pixel", "description": "One red pixel", "mimeType": "image/png"},
            {"uri": "test://watched-resource", "name": "watched", "description": "To subscribe to", "mimeType": "text/plain"},
        ]}))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        made(json!({"resourceTemplates": [
            {"uriTemplate": "test://template/{id}/data", "name": "data", "description": "Data by id", "mimeType": "application/json"},
        ]}))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let by_id = uri
            .strip_prefix("test://template/")
            .and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (uri, by_id) {
            (_, Some(id)) => {
                let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()})
            }
            ("test://static-binary", _) => json!({"uri": uri, "mimeType": "image/png", "blob": PIXEL}),
            ("test://static-text" | "test://watched-resource", _) => {
                json!({"uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource."})
            }
            _ => return Err(ErrorData::resource_not_found(format!("no resource {uri}"), None)),
        };
        let result: ReadResourceResult = made(json!({"contents": [contents]}))?;
        Ok(result.into())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let argument = |name: &str| json!({"name": name, "description": "Any text", "required": true});
        made(json!({"prompts": [
            {"name": "test_simple_prompt", "description": "A fixed prompt"},
            {"name": "test_prompt_with_arguments", "description": "Two arguments", "arguments": [argument("arg1"), argument("arg2")]},
            {"name": "test_prompt_with_embedded_resource", "description": "A resource", "arguments": [argument("resourceUri")]},
            {"name": "test_prompt_with_image", "description": "An image"},
        ]}))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = serde_json::to_value(&request.arguments).unwrap_or_default();
        let argument = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
        let contents = match request.name.as_str() {
            "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => {
                vec![text(format!(
                    "Prompt with arguments: arg1='{}', arg2='{}'",
                    argument("arg1"),
                    argument("arg2")
                ))]
            }
            "test_prompt_with_embedded_resource" => vec![
                embedded(
                    &argument("resourceUri"),
                    "text/plain",
                    "Embedded resource content for testing.",
                ),
                text("Please process the embedded resource above."),
            ],
            "test_prompt_with_image" => vec![image(), text("Please analyze the image above.")],
            other => return Err(ErrorData::invalid_params(format!("no prompt {other}"), None)),
        };
        let messages: Vec<Value> = contents
            .into_iter()
            .map(|content| json!({"role": "user", "content": content}))
            .collect();
        let result: GetPromptResult = made(json!({"messages": messages}))?;
        Ok(result.into())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        made(json!({"completion": {"values": ["paris", "park", "party"], "total": 3, "hasMore": false}}))
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let config = StreamableHttpServerConfig::default();
    let service = StreamableHttpService::new(|| Ok(Everything), LocalSessionManager::default().into(), config);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, axum::Router::new().route_service("/mcp", service)).await
}
