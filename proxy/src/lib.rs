//! Holds the secret, signs, keeps the ledger, tells the store; serves the widget.
