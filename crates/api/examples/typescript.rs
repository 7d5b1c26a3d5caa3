//! Prints the contract as TypeScript. Used by `cargo xtask codegen`, which writes it into the page.
#![allow(clippy::print_stdout)]

fn main() {
    print!("{}", api::typescript());
}
