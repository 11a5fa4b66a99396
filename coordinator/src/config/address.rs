//! How a server is named where people read it.

use mcproctor_proto::server::{Server, Transport};
use url::Url;

/// The URL without user info, query and fragment; for a child process its program and how many arguments it gets. None of
/// the places where secrets stand is in it.
pub(crate) fn address(server: &Server) -> String {
    match &server.transport {
        Transport::Http(http) => match Url::parse(&http.url) {
            Ok(mut url) => {
                // Both fail only for URLs without a host, which cannot have user info.
                let _ = url.set_username("");
                let _ = url.set_password(None);
                url.set_query(None);
                url.set_fragment(None);
                url.into()
            }
            Err(_) => String::new(),
        },
        Transport::Stdio(stdio) if stdio.args.is_empty() => stdio.command.clone(),
        Transport::Stdio(stdio) if stdio.args.len() == 1 => format!("{} (1 argument)", stdio.command),
        Transport::Stdio(stdio) => format!("{} ({} arguments)", stdio.command, stdio.args.len()),
    }
}
