//! QR codes.

use leptos::prelude::*;

use super::Drawing;
use crate::format::qr_path;

/// A code that holds `content`; an empty frame when no code can hold it.
#[component]
pub(crate) fn QrCode<'a>(
    content: &'a str,
    label: String,
    test: &'static str,
) -> impl IntoView + use<> {
    let drawn = qr_path::draw(content).map(|code| {
        let view_box = format!("0 0 {0} {0}", code.side);
        view! { <Drawing view_box=view_box path=code.path label=Some(label) /> }
    });
    view! {
        <div class="qr" part="qr" data-testid=test>
            {drawn}
        </div>
    }
}
