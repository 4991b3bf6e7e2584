//! One HTML file for people: no scripts, nothing from outside, readable on a phone, on paper and in the dark.

/// A page that is being written.
#[derive(Debug)]
pub(crate) struct Page {
    title: String,
    body: String,
}

const STYLE: &str = "\
:root{--ink:#1c1c1c;--paper:#fff;--faint:#666;--line:#d8d8d8;--mark:#e7f2fb}\
@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--paper:#161616;--faint:#a0a0a0;--line:#3a3a3a;--mark:#1d3346}}\
*{box-sizing:border-box}\
body{margin:0 auto;max-width:64rem;padding:1.5rem;color:var(--ink);background:var(--paper);\
font:16px/1.5 system-ui,sans-serif}\
h1{font-size:1.6rem;line-height:1.2}h2{margin-top:2.2rem;font-size:1.2rem;border-bottom:1px solid var(--line)}\
p.faint,figcaption{color:var(--faint)}\
div.wide{overflow-x:auto}\
table{border-collapse:collapse;font-size:.9rem}th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:left}\
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums}\
td.best{background:var(--mark);font-weight:600}\
div.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:1rem}\
figure{margin:0;min-width:0}figure svg{min-width:30rem;max-width:100%;height:auto;background:#fff;border-radius:4px}\
h3{margin-bottom:.4rem;font-size:1rem}\
dl.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,19rem),1fr));gap:.8rem;margin:1rem 0}\
dl.cards>div{border:1px solid var(--line);border-radius:6px;padding:.6rem .8rem;break-inside:avoid}\
dl.cards dt{font-weight:600}dl.cards dd{margin:0}\
dd.value{font-size:1.35rem;font-variant-numeric:tabular-nums}dd.value span{font-size:.85rem;color:var(--faint)}\
dd.note{font-size:.85rem;color:var(--faint)}dd.note b{font-weight:600;color:var(--ink)}\
code{font-family:ui-monospace,monospace;font-size:.92em;overflow-wrap:anywhere}\
pre{overflow-x:auto;border:1px solid var(--line);border-radius:6px;padding:.8rem;font-size:.8rem}\
p.mark{background:var(--mark);border-radius:6px;padding:.6rem .8rem}\
p,li,dt,dd,h1,h2,h3,figcaption{overflow-wrap:anywhere}\
@media print{:root{--ink:#000;--paper:#fff;--faint:#444;--line:#bbb;--mark:#eee}\
body{max-width:none;padding:0;font-size:11pt}figure,tr{break-inside:avoid}h2,h3{break-after:avoid}\
pre,div.wide{overflow:visible}pre{white-space:pre-wrap}\
table{font-size:8pt}th,td{padding:.15rem .3rem;overflow-wrap:anywhere}\
div.figures{grid-template-columns:1fr 1fr}figure svg{min-width:0}}";

/// What a browser may load for a page: nothing, and its own styles alone apply.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// Text as it may stand in HTML. Control characters may not.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            character => safe.push(allowed(character)),
        }
    }
    safe
}

/// A sentence as it may stand in HTML; what stands between backticks is code.
fn inline(text: &str) -> String {
    let parts: Vec<String> = escaped(text).split('`').map(str::to_owned).collect();
    if parts.len().is_multiple_of(2) {
        // A backtick is left over: none of them means anything.
        return parts.join("`");
    }
    let mark = |(at, part): (usize, String)| {
        if at % 2 == 1 { format!("<code>{part}</code>") } else { part }
    };
    parts.into_iter().enumerate().map(mark).collect()
}

/// A character, or what stands in place of one that HTML forbids.
fn allowed(character: char) -> char {
    let is_blank = matches!(character, '\t' | '\n');
    if character.is_control() && !is_blank { char::REPLACEMENT_CHARACTER } else { character }
}

/// A cell of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct HtmlCell {
    pub(crate) text: String,
    pub(crate) is_number: bool,
    pub(crate) is_best: bool,
}

impl HtmlCell {
    /// A cell with nothing in it.
    pub(crate) const EMPTY: HtmlCell =
        HtmlCell { text: String::new(), is_number: false, is_best: false };

    /// A text.
    pub(crate) fn text(text: impl Into<String>) -> HtmlCell {
        HtmlCell { text: text.into(), ..HtmlCell::default() }
    }

    /// A number.
    pub(crate) fn number(text: impl Into<String>) -> HtmlCell {
        HtmlCell { text: text.into(), is_number: true, is_best: false }
    }
}

/// A figure with what it means.
#[derive(Clone, Debug, Default)]
pub(crate) struct Card {
    pub(crate) name: String,
    pub(crate) value: String,
    /// What stands beside the value: what it was before, what was asked for.
    pub(crate) beside: Vec<String>,
    pub(crate) meaning: String,
    pub(crate) formula: String,
    /// The attacker that it speaks of, if it speaks of one.
    pub(crate) attacker: Option<&'static str>,
}

/// A number with separators.
#[must_use]
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with as many digits as tell something; a whole one without any behind the point.
pub(crate) fn decimal(value: f64) -> String {
    if value.fract() == 0.0 && (0.0..9e15).contains(&value) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "just looked"
        )]
        return count(value as u64);
    }
    match value.abs() {
        size if (1000.0..9e15).contains(&size) => {
            let sign = if value < 0.0 { "-" } else { "" };
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "just looked"
            )]
            let digits = count(size.round() as u64);
            format!("{sign}{digits}")
        }
        size if size >= 9e15 => format!("{value:.4e}"),
        size if size >= 10.0 => format!("{value:.2}"),
        size if size >= 0.001 => format!("{value:.4}"),
        _ => format!("{value:.2e}"),
    }
}

/// A share in percent; one that is not zero is not written as zero.
#[must_use]
pub fn percent(share: f64) -> String {
    match share {
        0.0 => "none".to_owned(),
        share if share < 0.0005 => "below 0.1%".to_owned(),
        share => format!("{:.1}%", share * 100.0),
    }
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

    /// A smaller part with its heading.
    pub(crate) fn section(&mut self, heading: &str) {
        self.body.push_str(&format!("<h3>{}</h3>\n", escaped(heading)));
    }

    /// A paragraph that stands out.
    pub(crate) fn mark(&mut self, text: &str) {
        self.body.push_str(&format!("<p class=\"mark\">{}</p>\n", inline(text)));
    }

    /// Sentences one below another.
    pub(crate) fn list(&mut self, items: &[String]) {
        self.body.push_str("<ul>\n");
        for item in items {
            self.body.push_str(&format!("<li>{}</li>\n", inline(item)));
        }
        self.body.push_str("</ul>\n");
    }

    /// Text as it is, line by line.
    pub(crate) fn verbatim(&mut self, text: &str) {
        self.body.push_str(&format!("<pre>{}</pre>\n", escaped(text)));
    }

    /// Figures with what they mean.
    pub(crate) fn cards(&mut self, cards: &[Card]) {
        self.body.push_str("<dl class=\"cards\">\n");
        for Card { name, value, beside, meaning, formula, attacker } in cards {
            let beside: Vec<String> =
                beside.iter().map(|text| format!(" <span>{}</span>", escaped(text))).collect();
            self.body.push_str(&format!(
                "<div><dt>{}</dt><dd class=\"value\">{}{}</dd><dd class=\"note\">{}</dd>",
                inline(name),
                escaped(value),
                beside.concat(),
                inline(meaning)
            ));
            if !formula.is_empty() {
                let formula = escaped(formula);
                self.body.push_str(&format!("<dd class=\"note\"><code>{formula}</code></dd>"));
            }
            if let Some(attacker) = attacker {
                self.body.push_str(&format!(
                    "<dd class=\"note\"><b>Attacker:</b> {}</dd>",
                    escaped(attacker)
                ));
            }
            self.body.push_str("</div>\n");
        }
        self.body.push_str("</dl>\n");
    }

    /// A paragraph.
    pub(crate) fn say(&mut self, text: &str) {
        self.body.push_str(&format!("<p>{}</p>\n", inline(text)));
    }

    /// A remark.
    pub(crate) fn remark(&mut self, text: &str) {
        self.body.push_str(&format!("<p class=\"faint\">{}</p>\n", inline(text)));
    }

    /// A table; numbers are to the right.
    pub(crate) fn table(&mut self, header: &[(&str, bool)], rows: &[Vec<HtmlCell>]) {
        self.body.push_str("<div class=\"wide\"><table>\n<thead><tr>");
        for (name, is_number) in header {
            if name.is_empty() {
                self.body.push_str("<td></td>");
                continue;
            }
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
                self.body.push_str(&format!("<td{class}>{}</td>", inline(text)));
            }
            self.body.push_str("</tr>\n");
        }
        self.body.push_str("</tbody></table></div>\n");
    }

    /// Pictures side by side, each with what it shows, which is also its name for those who do not see it. The SVG is
    /// our own: text in it is escaped already.
    pub(crate) fn figures(&mut self, figures: &[(String, String)]) {
        self.body.push_str("<div class=\"figures\">\n");
        for (svg, caption) in figures {
            let caption = escaped(caption);
            let named = format!("<svg role=\"img\" aria-label=\"{caption}\" ");
            let svg: String = svg.replacen("<svg ", &named, 1).chars().map(allowed).collect();
            self.body.push_str(&format!(
                "<figure><div class=\"wide\">{svg}</div><figcaption>{caption}</figcaption></figure>\n"
            ));
        }
        self.body.push_str("</div>\n");
    }

    /// The whole file.
    pub(crate) fn html(self) -> String {
        let title = escaped(&self.title);
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
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
    fn numbers_have_separators() {
        assert_eq!(
            [0, 999, 1000, 30_162, 1_234_567].map(count),
            ["0", "999", "1,000", "30,162", "1,234,567"]
        );
    }

    #[test]
    fn numbers_have_the_digits_that_tell_something() {
        let texts = [0.0, 10.0, 0.1, 0.066_27, 39.488, 9_660.4, -1_234.5, 4e-5, 1e20].map(decimal);
        let expected =
            ["0", "10", "0.1000", "0.0663", "39.49", "9,660", "-1,235", "4.00e-5", "1.0000e20"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn code_stands_between_backticks() {
        assert_eq!(inline("a `b<c` d"), "a <code>b&lt;c</code> d");
        assert_eq!(inline("a ` b"), "a ` b");
    }

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
