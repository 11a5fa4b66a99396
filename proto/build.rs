//! Compiles the `.proto` files with a compiler written in Rust, so that no installed `protoc` is needed.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = ["mcproctor/v1/workers.proto", "mcproctor/v1/evidence.proto"];
    for file in files {
        println!("cargo:rerun-if-changed={file}");
    }
    println!("cargo:rerun-if-changed=mcproctor/v1/records.proto");
    let descriptors = protox::compile(files, ["."])?;
    tonic_prost_build::configure().compile_fds(descriptors)?;
    Ok(())
}
