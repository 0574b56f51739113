//! QR codes.

use leptos::html::Dialog;
use leptos::prelude::*;

use super::Drawing;
use crate::browser::later;
use crate::format::qr_path;
use crate::i18n::use_i18n;

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
        <span class="qr" part="qr" data-testid=test>
            {drawn}
        </span>
    }
}

/// A code that fills the window while it is pressed open.
#[component]
pub(crate) fn LargeQrCode(content: String, label: String, test: &'static str) -> impl IntoView {
    let i18n = use_i18n();
    let is_large = RwSignal::new(false);
    let code = view! { <QrCode content=&content label=label.clone() test=test /> };
    let large = move || {
        is_large.get().then(|| {
            let code = view! { <QrCode content=&content label=label.clone() test="qr-large" /> };
            view! { <Enlarged label=label.clone() is_large=is_large code=code.into_any() /> }
        })
    };
    view! {
        <button
            type="button"
            class="enlarge"
            title=i18n.text("qr_enlarge")
            on:click=move |_| is_large.set(true)
        >
            {code}
        </button>
        {large}
    }
}

/// A dialog of the browser: above everything, with the focus, which goes back to the small code. A press or Escape closes
/// it.
#[component]
fn Enlarged(label: String, is_large: RwSignal<bool>, code: AnyView) -> impl IntoView {
    let dialog = NodeRef::<Dialog>::new();
    // Once it is on the page.
    later(0, move || {
        // The screen may have changed since.
        if let Some(Some(dialog)) = dialog.try_get_untracked() {
            let _ = dialog.show_modal();
        }
    });
    let close = move || {
        if let Some(dialog) = dialog.get_untracked() {
            dialog.close();
        }
    };
    view! {
        <dialog
            class="large"
            aria-label=label
            node_ref=dialog
            on:click=move |_| close()
            on:close=move |_| is_large.set(false)
            on:keydown=move |event| {
                if event.key() == "Escape" {
                    event.prevent_default();
                    event.stop_propagation();
                    close();
                }
            }
        >
            {code}
            <button type="button" class="secondary" data-testid="qr-close">
                {use_i18n().text("qr_close")}
            </button>
        </dialog>
    }
}
