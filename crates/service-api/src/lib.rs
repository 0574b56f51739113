//! The payment service as types, its signature, and (feature `client`) a client.
