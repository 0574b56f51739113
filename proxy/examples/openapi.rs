//! Prints the description of the HTTP interface, for the site.

fn main() {
    println!("{}", florin_proxy::openapi("https://pay.shop.example"));
}
