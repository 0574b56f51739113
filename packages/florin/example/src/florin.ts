/** Your proxy's script. This is that of `cargo xtask demo`, whose store lets in pages of http://127.0.0.1:3000. */
export const FLORIN = 'http://127.0.0.1:8080/florin.js';
