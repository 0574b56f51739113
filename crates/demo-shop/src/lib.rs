//! A shop in plain HTML with a small backend that believes only the signed webhook.
