//! stub
#[derive(Debug)]
/// a
pub struct MinimalArgs;
/// b
pub async fn minimal_agent(_args: MinimalArgs) -> i32 {
    0
}
