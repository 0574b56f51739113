//! Writing the few small requests of the browser as JSON.

/// One JSON object under construction; members come in the order in which they are added.
pub(crate) struct Object(String);

impl Object {
    pub(crate) fn new() -> Self {
        Self(String::from("{"))
    }

    pub(crate) fn text(mut self, key: &str, value: &str) -> Self {
        self.key(key);
        self.string(value);
        self
    }

    pub(crate) fn maybe_text(self, key: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(key, value),
            None => self,
        }
    }

    pub(crate) fn number(mut self, key: &str, value: u32) -> Self {
        self.key(key);
        self.0.push_str(&value.to_string());
        self
    }

    pub(crate) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }

    fn key(&mut self, key: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.string(key);
        self.0.push(':');
    }

    fn string(&mut self, value: &str) {
        self.0.push('"');
        for char in value.chars() {
            match char {
                '"' | '\\' => {
                    self.0.push('\\');
                    self.0.push(char);
                }
                '\0'..='\x1f' => self.control(u32::from(char)),
                _ => self.0.push(char),
            }
        }
        self.0.push('"');
    }

    /// Digit by digit: what `{:04x}` stands for would be downloaded for this alone.
    fn control(&mut self, code: u32) {
        let digits = [code >> 4, code & 15].map(|value| char::from_digit(value, 16));
        self.0.push_str("\\u00");
        self.0.extend(digits.into_iter().flatten());
    }
}
