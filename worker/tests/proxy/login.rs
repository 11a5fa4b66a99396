//! The agent never sees that the server wants a login, nor anything else of the origin.

use crate::wire::{Conn, Server, call, proxy, proxy_to};

#[tokio::test]
async fn challenges_are_swallowed_and_metadata_is_not_found() {
    let server = Server::start(|mut conn: Conn| async move {
        while conn.try_head().await.is_some() {
            conn.answer(
                "401 Unauthorized",
                "www-authenticate: Bearer resource_metadata=\"https://x.example/\"\r\n",
                "",
            )
            .await;
        }
    })
    .await;
    let fixture = proxy_to(&server).await;
    for path in [
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/register",
        "/authorize",
        "/token",
        "/",
        "/mcp/",
    ] {
        let mut agent = Conn::connect(fixture.address).await;
        agent.get(path, "").await;
        assert_eq!(agent.message().await.status(), "404", "{path}");
    }
    assert_eq!(server.connections(), 0, "the server is not asked");
    let mut agent = Conn::connect(fixture.address).await;
    agent.get("/mcp", "").await;
    let answer = agent.message().await;
    assert_eq!((answer.status(), answer.header("www-authenticate")), ("401", None));
    assert!(fixture.proxy.exposure().await.login_required);
}

#[tokio::test]
async fn callers_from_elsewhere_are_forbidden_before_the_server_hears_of_them() {
    let server = Server::start(|_| async {}).await;
    let fixture = proxy_to(&server).await;
    for headers in [
        "host: evil.example\r\n",
        "host: localhost\r\norigin: https://evil.example\r\n",
        "host: localhost\r\nhost: evil.example\r\n",
    ] {
        let mut agent = Conn::connect(fixture.address).await;
        agent
            .write(format!("POST /mcp HTTP/1.1\r\n{headers}content-length: 2\r\n\r\n{{}}"))
            .await;
        let status = agent.message().await.status().to_owned();
        assert!(status == "403" || status == "400", "{headers}: {status}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn injected_headers_replace_those_of_the_agent() {
    let server = Server::start(|mut conn: Conn| async move {
        let request = conn.message().await;
        assert_eq!(
            request.head.to_ascii_lowercase().matches("authorization:").count(),
            1,
            "{}",
            request.head
        );
        assert_eq!(request.header("authorization"), Some("Bearer of-the-proxy"));
        assert_eq!(request.header("x-other"), Some("kept"));
        conn.answer("202 Accepted", "", "").await;
    })
    .await;
    let fixture = proxy(
        format!("http://{}/mcp", server.address),
        &[("Authorization", "Bearer of-the-proxy")],
    )
    .await;
    let mut agent = Conn::connect(fixture.address).await;
    agent
        .post(
            "/mcp",
            "authorization: Bearer of-the-agent\r\nauthorization: Bearer twice\r\nx-other: kept\r\n",
            call("1", "t", "{}"),
        )
        .await;
    assert_eq!(agent.message().await.status(), "202");
}
