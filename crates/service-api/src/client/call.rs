//! The calls that the client makes.

/// One endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Prices,
    CreateInvoice,
    Invoice,
    Confirm,
    Checkout,
}

impl Call {
    /// Whether a second time does no harm when nobody knows what became of the first.
    pub(super) fn is_repeatable(self) -> bool {
        match self {
            Self::Prices | Self::Invoice | Self::Confirm => true,
            // Each makes something new every time.
            Self::CreateInvoice | Self::Checkout => false,
        }
    }
}
