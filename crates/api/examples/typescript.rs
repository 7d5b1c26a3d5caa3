//! Prints the API contract as TypeScript. `cargo xtask codegen` writes the output to `ui/src/lib/api/generated.ts`.
#![allow(clippy::print_stdout)]

fn main() {
    print!("{}", api::typescript());
}
