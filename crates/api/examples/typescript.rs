//! Prints the contract as TypeScript; `cargo xtask codegen` writes it into the page.
#![allow(clippy::print_stdout)]

fn main() {
    print!("{}", api::typescript());
}
