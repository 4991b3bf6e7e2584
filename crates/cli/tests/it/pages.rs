//! Our HTML pages as a person meets them: sound markup, nothing from outside, at ease in a browser
//! and on a phone.
//!
//! Any test that makes a page calls [`check`] with its path.

mod browser;
mod markup;

use std::path::Path;

/// Panics with all that is wrong with a page.
///
/// The markup is always looked at. The page is opened in a browser where one is installed; where
/// the environment says `INCROWD_BROWSER=required`, a missing browser is a failure too.
#[track_caller]
pub(crate) fn check(path: &Path) {
    let html = std::fs::read_to_string(path).unwrap();
    let mut faults = markup::faults(&html);
    if let Some(program) = browser::installed() {
        faults.extend(browser::faults(program, path));
    } else {
        let is_required = std::env::var("INCROWD_BROWSER").is_ok_and(|value| value == "required");
        assert!(!is_required, "INCROWD_BROWSER=required, and no {}", browser::NAMES.join(" or "));
        eprintln!("no browser is installed: {} was not opened in one", path.display());
    }
    assert!(faults.is_empty(), "{}:\n{}", path.display(), faults.join("\n"));
}

/// Panics with all that is wrong with a page's markup: for pages that differ little from one that
/// was opened in a browser.
#[track_caller]
pub(crate) fn check_markup(path: &Path) {
    let faults = markup::faults(&std::fs::read_to_string(path).unwrap());
    assert!(faults.is_empty(), "{}:\n{}", path.display(), faults.join("\n"));
}

/// Checks that see nothing would find every page good.
#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">\
        <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
        <meta name=\"viewport\" content=\"width=device-width\"><title>A page</title></head>";

    fn page(body: &str) -> String {
        format!("{HEAD}<body><h1>A page</h1>{body}</body></html>")
    }

    #[test]
    fn a_plain_page_is_sound() {
        let body = "<h2 id=\"a\">A</h2><p>url( @import &lt;script&gt; <a href=\"#a\">up</a></p>\
            <figure><svg role=\"img\" aria-label=\"a line\" xmlns=\"http://www.w3.org/2000/svg\"><path d=\"M0 0\"/></svg>\
            <figcaption>A line.</figcaption></figure>";
        assert_eq!(markup::faults(&page(body)), Vec::<String>::new());
    }

    #[test]
    fn faults_of_markup_are_found() {
        for (body, says) in [
            ("<p>a < b</p>", "not valid"),
            ("<p><b>a</p>", "not valid"),
            ("<p a=1 a=2></p>", "not valid"),
            ("<p id=\"a\"></p><p id=\"a\"></p>", "the id `a` stands twice"),
            ("<h3>A</h3>", "h3 follows h1"),
            ("<h1>B</h1>", "2 headings h1"),
            ("<figure><p></p></figure>", "a figure without a caption"),
            ("<figure><figcaption> </figcaption></figure>", "a figure without a caption"),
            ("<svg role=\"img\"></svg>", "an svg without a name"),
            ("<svg aria-label=\"a\"></svg>", "an svg without a name"),
            ("<table><tr><td>1</td></tr></table>", "a table without headings"),
            ("<a href=\"https://example.org/\">a</a>", "href leads outside"),
            ("<a href=\"#b\">a</a>", "href leads to no id"),
            ("<img alt=\"\" src=\"data:,\">", "src leads outside"),
            ("<script></script>", "<script> has no place"),
            ("<iframe></iframe>", "<iframe> has no place"),
            ("<p onclick=\"a()\">a</p>", "onclick is a script"),
            ("<p style=\"background:url(a.png)\">a</p>", "style leads outside"),
            (
                "<svg role=\"img\" aria-label=\"a\"><path fill=\"url(a)\"/></svg>",
                "fill leads outside",
            ),
            (
                "<svg role=\"img\" aria-label=\"a\"><style>@import 'a';</style></svg>",
                "a style leads outside",
            ),
        ] {
            let found = markup::faults(&page(body));
            assert!(found.iter().any(|fault| fault.contains(says)), "{body}: {found:?}");
        }
        for (part, other, says) in [
            ("<!DOCTYPE html>", "", "not valid"),
            (" lang=\"en\"", "", "no language"),
            ("<title>A page</title>", "<title> </title>", "no title"),
            ("width=device-width", "", "no viewport"),
            ("default-src 'none'", "default-src *", "policy"),
            ("<title>", "<link rel=\"icon\"><title>", "<link> has no place"),
            ("<title>", "<base><title>", "<base> has no place"),
        ] {
            let found = markup::faults(&page("").replace(part, other));
            assert!(found.iter().any(|fault| fault.contains(says)), "{part}: {found:?}");
        }
    }

    #[test]
    fn faults_in_a_browser_are_found() {
        let Some(program) = browser::installed() else { return };
        let folder = crate::harness::Folder::with(&[]);
        let found = |html: &str| {
            std::fs::write(folder.path("p.html"), html).unwrap();
            browser::faults(program, &folder.path("p.html"))
        };
        assert_eq!(found(&page("<p>a</p>")), Vec::<String>::new());
        let image = page("<img alt=\"\" src=\"http://incrowd.test/a.png\">");
        let refused = found(&image);
        assert!(refused.len() == 1 && refused[0].contains("console"), "{refused:?}");
        let asked = found(&image.replace("default-src 'none'", "default-src *"));
        assert!(
            asked.len() == 1 && asked[0].contains("outside: GET http://incrowd.test"),
            "{asked:?}"
        );
        let wide = found(&page("<p style=\"width:500px\">a</p>"));
        assert!(wide.len() == 1 && wide[0].contains("scrolls sideways"), "{wide:?}");
    }
}
