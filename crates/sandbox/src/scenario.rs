//! Scenarios: what happens to an invoice, step by step, each step a verb of the control API.
//!
//! In a step's path and body `{invoice}`, `{session}`, `{chain}`, `{other_asset}`, `{other_address}` and `{seconds_left}`
//! stand for what the invoice, or the hosted checkout, of the scenario has.

mod known;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(crate) use known::{Known, known, named};

/// Steps beyond which nobody watches.
pub(crate) const MAX_STEPS: usize = 100;

/// One call of the control API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    #[serde(default)]
    pub(crate) method: Method,
    /// Below `/sandbox/`, without a slash at its beginning.
    pub(crate) path: String,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(crate) body: Value,
}

/// How a verb of the control API is called when it changes something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Method {
    #[default]
    Post,
    Delete,
}

impl Method {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

impl Step {
    /// Whether the step speaks of `{name}`.
    pub(crate) fn names(&self, name: &str) -> bool {
        let text = format!("{} {}", self.path, self.body);
        text.contains(&format!("{{{name}}}"))
    }

    /// The step with what its names stand for.
    pub(crate) fn filled(&self, meanings: &Map<String, Value>) -> Self {
        Self {
            method: self.method,
            path: filled_text(&self.path, meanings),
            body: filled(&self.body, meanings),
        }
    }
}

/// A text that is a name and nothing else becomes what the name stands for, a number as well.
fn filled(value: &Value, meanings: &Map<String, Value>) -> Value {
    match value {
        Value::String(text) => {
            let name = text
                .strip_prefix('{')
                .and_then(|rest| rest.strip_suffix('}'));
            let whole = name.and_then(|name| meanings.get(name)).cloned();
            whole.unwrap_or_else(|| Value::String(filled_text(text, meanings)))
        }
        Value::Array(items) => items.iter().map(|item| filled(item, meanings)).collect(),
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(name, member)| (name.clone(), filled(member, meanings)));
            Value::Object(members.collect())
        }
        other => other.clone(),
    }
}

fn filled_text(text: &str, meanings: &Map<String, Value>) -> String {
    let mut text = text.to_owned();
    for (name, meaning) in meanings {
        if let Value::String(meaning) = meaning {
            text = text.replace(&format!("{{{name}}}"), meaning);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_filled_in_path_and_body() {
        let step = json!({"path": "invoices/{invoice}/pay", "body": {"in": ["to {chain}", 3], "seconds": "{left}"}});
        let step: Step = serde_json::from_value(step).unwrap();
        let meanings = json!({"invoice": "inv_1", "chain": "bitcoin", "left": 901});
        let filled = step.filled(meanings.as_object().unwrap());
        assert_eq!(filled.path, "invoices/inv_1/pay");
        assert_eq!(
            filled.body,
            json!({"in": ["to bitcoin", 3], "seconds": 901})
        );
        assert!(step.names("left") && step.names("invoice") && !step.names("session"));
    }

    #[test]
    fn every_known_scenario_can_be_read_and_has_a_name_of_its_own() {
        let mut names: Vec<&str> = known().into_iter().map(|known| known.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(known().iter().all(|known| !known.steps.is_empty()));
    }
}
