//! eval.yaml: as written, then resolved.
//!
//! [`load`] goes through it in passes: text → tree with places → variables filled in → as written →
//! [`Config`], in which nothing is left to look up. Whatever is wrong is collected on the way and reported at once.

mod address;
mod dotenv;
mod env_file;
mod environment;
mod error;
mod file;
mod fingerprint;
mod gateway;
mod interpolate;
mod limit_places;
mod load;
mod overrides;
mod resolve;
mod sandbox;
mod secrets;
mod settings;
#[cfg(test)]
mod tests;

pub(crate) use address::address;
pub use environment::Environment;
pub use error::ConfigErrors;
pub use gateway::{CertificateFiles, GatewayAccess, GatewayConfig, GatewayModelSettings};
pub use limit_places::LimitPlaces;
pub use load::{load, load_gateway};
pub use overrides::{OverrideError, Overrides};
pub use sandbox::{Able, SandboxChoiceError, SandboxSettings};
pub use settings::{Config, JudgeSettings, ReportFormat, ReportSettings, RunSettings, Source};
