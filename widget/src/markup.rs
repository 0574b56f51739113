//! Building the page, straight onto the document.
//!
//! Leptos' signals, memos, effects and owners do the work; its `view!` is not used. `view!` compares an old tree with
//! a new one, and gives each shape of element a type of its own with a copy of that code. A checkout never needs the
//! comparison: a part of it either follows a signal ([`live_text`], [`Tag::live_attr`]) or is built anew ([`live`]).
//! docs/adr/0006 has the figures.
//!
//! What each caller hands over is boxed before anything is done with it: else every text, attribute and part of every
//! screen would bring a copy of the code that follows it.
//!
//! Whatever is made here, listeners and effects included, belongs to the owner at work and is freed with it.

use std::any::Any;
use std::borrow::Cow;

use reactive_graph::effect::RenderEffect;
use reactive_graph::owner::StoredValue;
use reactive_graph::prelude::*;
use reactive_graph::signal::RwSignal;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, Event, HtmlInputElement, Node};

use crate::browser::document;
use crate::parts;

/// The namespace of drawings.
const SVG: &str = "http://www.w3.org/2000/svg";

/// An element.
pub(crate) struct Tag(Element);

/// An element with classes, empty for none, and the parts that follow from them.
pub(crate) fn tag(name: &str, class: &str) -> Tag {
    let element = document().create_element(name);
    let tag = Tag(element.expect("the names of elements are written in this crate"));
    if let Some(parts) = parts::of(name, class) {
        set(&tag.0, "part", parts);
    }
    if class.is_empty() {
        tag
    } else {
        tag.attr("class", class)
    }
}

/// A text as a node: what the store or the payment service wrote is never read as markup.
pub(crate) fn text<'a>(words: impl Into<Cow<'a, str>>) -> Node {
    document().create_text_node(&words.into()).into()
}

/// Nothing.
pub(crate) fn nothing() -> Node {
    text("")
}

/// A text that follows its signals.
pub(crate) fn live_text(words: impl FnMut() -> String + 'static) -> Node {
    live_text_of(Box::new(words))
}

fn live_text_of(mut words: Box<dyn FnMut() -> String>) -> Node {
    let node = nothing();
    let place = node.clone();
    let mut before = String::new();
    follow(Box::new(move || {
        let now = words();
        if now != before {
            place.set_text_content(Some(&now));
            before = now;
        }
    }));
    node
}

/// A part of the page that is built anew whenever a signal that it reads has changed. Its holder takes no part in the
/// layout (`display: contents`).
pub(crate) fn live(part: impl FnMut() -> Node + 'static) -> Node {
    live_of(Box::new(part))
}

fn live_of(mut part: Box<dyn FnMut() -> Node>) -> Node {
    let holder = tag("div", "live").0;
    let place = holder.clone();
    follow(Box::new(move || {
        let now = part();
        place.set_text_content(None);
        append(&place, &now);
    }));
    holder.into()
}

/// Runs `work` now and whenever a signal that it reads has changed, for as long as the owner at work lives.
fn follow(mut work: Box<dyn FnMut()>) {
    keep(Box::new(RenderEffect::new(move |_| work())));
}

/// Frees `thing` with the owner at work.
fn keep(thing: Box<dyn Any>) {
    StoredValue::new_local(thing);
}

impl Tag {
    pub(crate) fn attr<'a>(self, name: &str, value: impl Into<Cow<'a, str>>) -> Self {
        set(&self.0, name, &value.into());
        self
    }

    /// The name under which a test finds it.
    pub(crate) fn test<'a>(self, name: impl Into<Cow<'a, str>>) -> Self {
        self.attr("data-testid", name)
    }

    /// An attribute that follows its signals; absent while there is no value.
    pub(crate) fn live_attr(
        self,
        name: &'static str,
        value: impl FnMut() -> Option<String> + 'static,
    ) -> Self {
        self.live_attr_of(name, Box::new(value))
    }

    fn live_attr_of(
        self,
        name: &'static str,
        mut value: Box<dyn FnMut() -> Option<String>>,
    ) -> Self {
        let element = self.0.clone();
        follow(Box::new(move || match value() {
            Some(value) => set(&element, name, &value),
            None => {
                let _ = element.remove_attribute(name);
            }
        }));
        self
    }

    /// An attribute that is `true` while the signal is, and else absent.
    pub(crate) fn flag(self, name: &'static str, signal: RwSignal<bool>) -> Self {
        self.live_attr(name, move || signal.get().then(|| String::from("true")))
    }

    pub(crate) fn on_click(self, act: impl Fn() + 'static) -> Self {
        self.on_click_of(Box::new(act))
    }

    fn on_click_of(self, act: Box<dyn Fn()>) -> Self {
        self.listen("click", Closure::wrap(Box::new(move |_| act())))
    }

    /// Acts when the form is to be sent, by its button or by Enter. It never is: nothing here leaves but by `api`.
    pub(crate) fn on_submit(self, act: impl Fn() + 'static) -> Self {
        let stay = move |event: Event| {
            event.prevent_default();
            act();
        };
        self.listen("submit", Closure::wrap(Box::new(stay)))
    }

    /// Acts on what stands in this field, whenever that changes.
    pub(crate) fn on_input(self, act: Box<dyn Fn(String)>) -> Self {
        let field: HtmlInputElement = self.0.clone().unchecked_into();
        self.listen(
            "input",
            Closure::wrap(Box::new(move |_| act(field.value()))),
        )
    }

    /// Acts on every event of this name.
    pub(crate) fn listen(self, event: &str, act: Closure<dyn Fn(Event)>) -> Self {
        let listener = act.as_ref().unchecked_ref();
        let _ = self.0.add_event_listener_with_callback(event, listener);
        keep(Box::new(act));
        self
    }

    pub(crate) fn with(self, child: impl Into<Node>) -> Self {
        append(&self.0, &child.into());
        self
    }

    pub(crate) fn text<'a>(self, words: impl Into<Cow<'a, str>>) -> Self {
        self.with(text(words))
    }

    pub(crate) fn all(self, children: impl IntoIterator<Item = Node>) -> Self {
        for child in children {
            append(&self.0, &child);
        }
        self
    }
}

impl From<Tag> for Node {
    fn from(tag: Tag) -> Self {
        tag.0.into()
    }
}

#[inline(never)]
fn set(element: &Element, name: &str, value: &str) {
    // Refused only for a name that is none, and names are written in this crate.
    let _ = element.set_attribute(name, value);
}

#[inline(never)]
fn append(element: &Element, child: &Node) {
    // Refused only for an element inside itself.
    let _ = element.append_child(child);
}

/// A drawing of one filled path. `label` for those who do not see it; without one it is decoration.
pub(crate) fn drawing(class: &str, view_box: &str, path: &str, label: Option<&str>) -> Node {
    let shape = |name| document().create_element_ns(Some(SVG), name);
    let (Ok(svg), Ok(outline)) = (shape("svg"), shape("path")) else {
        return nothing();
    };
    let svg = Tag(svg).attr("class", class).attr("viewBox", view_box);
    let svg = match label {
        Some(label) => svg.attr("role", "img").attr("aria-label", label),
        None => svg.attr("aria-hidden", "true"),
    };
    svg.with(Tag(outline).attr("d", path)).into()
}
