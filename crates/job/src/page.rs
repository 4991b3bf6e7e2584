//! One HTML file for people: no scripts, nothing from outside, readable on paper and in the dark.

/// A page that is being written.
#[derive(Debug)]
pub(crate) struct Page {
    title: String,
    body: String,
}

const STYLE: &str = "\
:root{--ink:#1c1c1c;--paper:#fff;--faint:#666;--line:#d8d8d8;--mark:#e7f2fb}\
@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--paper:#161616;--faint:#a0a0a0;--line:#3a3a3a;--mark:#1d3346}}\
@media print{:root{--ink:#000;--paper:#fff;--faint:#444;--line:#bbb;--mark:#eee}figure,table{break-inside:avoid}}\
*{box-sizing:border-box}\
body{margin:0 auto;max-width:64rem;padding:1.5rem;color:var(--ink);background:var(--paper);\
font:16px/1.5 system-ui,sans-serif}\
h1{font-size:1.6rem;line-height:1.2}h2{margin-top:2.2rem;font-size:1.2rem;border-bottom:1px solid var(--line)}\
p.faint,figcaption{color:var(--faint)}\
div.wide{overflow-x:auto}\
table{border-collapse:collapse;font-size:.9rem}th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:left}\
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums}\
td.best{background:var(--mark);font-weight:600}\
div.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:1rem}\
figure{margin:0}figure svg{max-width:100%;height:auto;background:#fff;border-radius:4px}";

/// Text as it may stand in HTML.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            character => safe.push(character),
        }
    }
    safe
}

/// A cell of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct HtmlCell {
    pub(crate) text: String,
    pub(crate) is_number: bool,
    pub(crate) is_best: bool,
}

impl Page {
    /// A page with its title.
    pub(crate) fn new(title: &str) -> Page {
        let body = format!("<h1>{}</h1>\n", escaped(title));
        Page { title: title.to_owned(), body }
    }

    /// A part with its heading.
    pub(crate) fn part(&mut self, heading: &str) {
        self.body.push_str(&format!("<h2>{}</h2>\n", escaped(heading)));
    }

    /// A paragraph.
    pub(crate) fn say(&mut self, text: &str) {
        self.body.push_str(&format!("<p>{}</p>\n", escaped(text)));
    }

    /// A remark.
    pub(crate) fn remark(&mut self, text: &str) {
        self.body.push_str(&format!("<p class=\"faint\">{}</p>\n", escaped(text)));
    }

    /// A table; numbers are to the right.
    pub(crate) fn table(&mut self, header: &[(&str, bool)], rows: &[Vec<HtmlCell>]) {
        self.body.push_str("<div class=\"wide\"><table>\n<thead><tr>");
        for (name, is_number) in header {
            let class = if *is_number { " class=\"number\"" } else { "" };
            self.body.push_str(&format!("<th{class} scope=\"col\">{}</th>", escaped(name)));
        }
        self.body.push_str("</tr></thead>\n<tbody>\n");
        for row in rows {
            self.body.push_str("<tr>");
            for HtmlCell { text, is_number, is_best } in row {
                let class = match (is_number, is_best) {
                    (true, true) => " class=\"number best\"",
                    (true, false) => " class=\"number\"",
                    (false, true) => " class=\"best\"",
                    (false, false) => "",
                };
                self.body.push_str(&format!("<td{class}>{}</td>", escaped(text)));
            }
            self.body.push_str("</tr>\n");
        }
        self.body.push_str("</tbody></table></div>\n");
    }

    /// Pictures side by side, each with what it shows. The SVG is our own: text in it is escaped already.
    pub(crate) fn figures(&mut self, figures: &[(String, String)]) {
        self.body.push_str("<div class=\"figures\">\n");
        for (svg, caption) in figures {
            let caption = escaped(caption);
            self.body
                .push_str(&format!("<figure>{svg}<figcaption>{caption}</figcaption></figure>\n"));
        }
        self.body.push_str("</div>\n");
    }

    /// The whole file.
    pub(crate) fn html(self) -> String {
        let title = escaped(&self.title);
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
            self.body
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_cannot_leave_their_place() {
        let mut page = Page::new("<b>&\"'");
        let cell = HtmlCell { text: "</td><script>".to_owned(), ..HtmlCell::default() };
        page.table(&[("<i>", false)], &[vec![cell]]);
        page.say("a < b");
        let html = page.html();
        assert!(!html.contains("<script>") && !html.contains("<b>") && !html.contains("<i>"));
        assert!(html.contains("<title>&lt;b&gt;&amp;&quot;&#39;</title>"));
    }
}
