//! The types in the comments of the widget's scripts, checked by TypeScript.

use std::path::Path;
use std::{env, fs};

use support::type_errors_of;

fn scripts() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../widget/js"))
}

#[test]
fn the_scripts_have_no_type_error() {
    assert_eq!(type_errors_of(&scripts().join("tsconfig.json")), "");
}

/// A module outside tsconfig.json's include list would have no errors either.
#[test]
fn a_wrong_type_in_a_script_is_an_error() {
    let folder = support::Folder::new();
    let copy = folder.path().join("widget");
    for part in ["js", "js/host", "locales"] {
        fs::create_dir_all(copy.join(part)).unwrap();
        for file in fs::read_dir(scripts().join("..").join(part)).unwrap() {
            let file = file.unwrap().path();
            if file.is_file() {
                fs::copy(&file, copy.join(part).join(file.file_name().unwrap())).unwrap();
            }
        }
    }
    let wrong = "import { get } from './files.js';\nget(1);\n";
    fs::write(copy.join("js/host/wrong.js"), wrong).unwrap();
    let errors = type_errors_of(&copy.join("js/tsconfig.json"));
    assert!(errors.contains("wrong.js(2,5): error TS2345"), "{errors}");
}
