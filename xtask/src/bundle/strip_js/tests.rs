use super::strip;

#[track_caller]
fn becomes(source: &str, wanted: &str) {
    assert_eq!(strip(source).unwrap(), wanted);
}

#[test]
fn comments_and_blanks_go() {
    becomes(
        "// a\nfunction f ( a, b ) { /* c */\n    return a + b; // d\n}\n",
        "function f(a,b){return a+b;}",
    );
}

#[test]
fn a_line_break_that_may_end_a_statement_stays() {
    becomes("let a = 1\nlet b = 2", "let a=1\nlet b=2");
    becomes("return\na", "return\na");
    becomes("a\n++b", "a\n++b");
    becomes("x = {}\n(y)", "x={}\n(y)");
    becomes("a = 1\n/* one\ntwo */\nb = 2", "a=1\nb=2");
}

#[test]
fn a_line_break_inside_a_statement_goes() {
    becomes("f(a,\n  b\n)\n  .then(c)", "f(a,b).then(c)");
    becomes("a = b ?\n c :\n d", "a=b?c:d");
}

#[test]
fn a_blank_that_keeps_tokens_apart_stays() {
    becomes("a + +b - -c", "a+ +b- -c");
    becomes("a / /b/.c", "a/ /b/.c");
    becomes("a < !--b", "a< !--b");
    becomes("1 .toString()", "1 .toString()");
    becomes("typeof a in b", "typeof a in b");
    becomes("a-- > b", "a-- >b");
}

#[test]
fn strings_templates_and_regular_expressions_are_left_alone() {
    becomes(r#"a = "// b  \" c" ;"#, r#"a="// b  \" c";"#);
    becomes(
        "a = `  // ${ b + `  ${ c }` }  \\` /* `;",
        "a=`  // ${b+`  ${c}`}  \\` /* `;",
    );
    becomes("a = /[/\"]\\/ '/g.test( b )", "a=/[/\"]\\/ '/g.test(b)");
    becomes("return /a  b/", "return/a  b/");
    becomes("x = `${ { a : 1 } }`", "x=`${{a:1}}`");
}

#[test]
fn a_slash_behind_a_value_divides() {
    becomes("a = b / c // d / e\nf", "a=b/c\nf");
    becomes("a = (b) / 2 / 'c'.length", "a=(b)/2/'c'.length");
}

#[test]
fn what_does_not_end_is_an_error() {
    for (source, what) in [
        ("/* a", "comment"),
        ("'a\n'", "string"),
        ("`a", "template"),
        ("`a${b", "template"),
        ("a = /b\n", "regular expression"),
    ] {
        let sentence = format!("a script has a {what} without its end");
        assert_eq!(strip(source).unwrap_err().to_string(), sentence, "{source}");
    }
}
