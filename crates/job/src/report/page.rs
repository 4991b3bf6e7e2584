//! One HTML file for people: no scripts, nothing from outside, readable on a phone, on paper and in
//! the dark.

/// A page that is being written.
#[derive(Debug, Default)]
pub(crate) struct Page {
    title: String,
    body: String,
    /// The attackers that were told of: once each.
    attackers: Vec<&'static str>,
    n_pictures_left_out: usize,
    is_cut: bool,
}

const STYLE: &str = "\
:root{--ink:#1c1c1c;--paper:#fff;--faint:#5c5c5c;--line:#d8d8d8;--mark:#e7f2fb}\
@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--paper:#161616;--faint:#a8a8a8;--line:#3a3a3a;--mark:#1d3346}\
figure svg{filter:invert(.913) hue-rotate(180deg)}}\
*{box-sizing:border-box}\
body{margin:0 auto;max-width:62rem;padding:1.5rem;color:var(--ink);background:var(--paper);\
font:16px/1.5 system-ui,sans-serif}\
@media(max-width:30rem){body{padding:1rem}}\
h1{font-size:1.6rem;line-height:1.2}h2{margin-top:2.2rem;font-size:1.2rem;border-bottom:1px solid var(--line)}\
p,ul{max-width:46rem}p.faint,figcaption{color:var(--faint)}figcaption{font-size:.9rem}\
div.wide{overflow-x:auto}\
table{border-collapse:collapse;font-size:.9rem}th,td{padding:.25rem .6rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}\
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums}\
td.best{background:var(--mark);font-weight:600}\
div.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:1.2rem;margin:1rem 0}\
figure{margin:0;min-width:0}figure svg{display:block;width:100%;max-width:31rem;height:auto;background:#fff}\
h3{margin-bottom:.4rem;font-size:1rem}\
dl.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,14rem),1fr));gap:.8rem;margin:1rem 0}\
dl.cards>div{border:1px solid var(--line);border-radius:6px;padding:.6rem .8rem;break-inside:avoid}\
dl.cards dt{font-weight:600}dl.cards dd{margin:0}\
dd.value{font-size:1.35rem;font-variant-numeric:tabular-nums}dd.value span{display:inline-block;font-size:.85rem;color:var(--faint)}\
dd.note{font-size:.85rem;color:var(--faint)}\
dl.about{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;margin:1rem 0}dl.about dt{color:var(--faint)}dl.about dd{margin:0}\
details{margin:.6rem 0}summary{cursor:pointer;color:var(--faint)}details dt{font-weight:600}\
dl.sign{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,16rem),1fr));gap:2.6rem 2rem;margin:1rem 0}\
dl.sign>div{display:flex;flex-direction:column-reverse}dl.sign dt{border-top:1px solid var(--ink);color:var(--faint);font-size:.85rem}\
dl.sign dd{margin:0;min-height:1.5em}\
code{font-family:ui-monospace,monospace;font-size:.92em;overflow-wrap:anywhere}\
pre{overflow-x:auto;border:1px solid var(--line);border-radius:6px;padding:.8rem;font-size:.8rem}\
p.mark{background:var(--mark);border-radius:6px;padding:.6rem .8rem}\
p,li,dt,dd,h1,h2,h3,figcaption,summary{overflow-wrap:anywhere}\
@page{margin:16mm 15mm}\
@media(max-width:34rem){table.stack thead{display:none}table.stack tr{display:block;padding:.5rem 0;border-bottom:1px solid var(--line)}\
table.stack td{display:block;border:0;padding:.05rem 0;overflow-wrap:anywhere}table.stack td:first-child{font-weight:600}}table.stack td:nth-child(2):nth-last-child(2){white-space:nowrap}\
@media print{:root{--ink:#000;--paper:#fff;--faint:#444;--line:#bbb;--mark:#eee}html{font-size:9.5pt}\
body{max-width:none;padding:0;font-size:9.5pt;line-height:1.35}p,ul{max-width:none;margin:.35rem 0}\
h1{font-size:15pt;margin:0 0 .4rem}h2{margin:.8rem 0 .3rem;font-size:11.5pt}h3{margin:.5rem 0 .2rem;font-size:10pt}\
h2.details{break-before:page}figure,tr,p,li{break-inside:avoid}h2,h3{break-after:avoid}\
pre,div.wide{overflow:visible}pre{white-space:pre-wrap}\
table{font-size:8pt}th,td{padding:.08rem .25rem;overflow-wrap:break-word}\
dl.cards{grid-template-columns:repeat(4,1fr);gap:.4rem;margin:.4rem 0}dl.cards>div{padding:.3rem .5rem}dd.value{font-size:1.1rem}\
dl.about{margin:.4rem 0}dl.sign{grid-template-columns:1fr 1fr;gap:1.6rem 2rem;break-inside:avoid}\
div.figures{grid-template-columns:1fr 1fr;gap:.6rem;margin:.4rem 0}figure svg{max-width:none;filter:none}}";

/// Bytes of a page that its text takes at most; what comes after that is left out.
const MOST_TEXT: usize = 1_900_000;

/// Bytes of a page from which on no more pictures are added.
const MOST_PICTURES: usize = 1_500_000;

/// Characters of a cell of a table, or of a sentence; more are not read.
const MOST_CHARACTERS: usize = 4_000;

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
    let end = text.char_indices().nth(MOST_CHARACTERS).map(|(end, _)| end);
    let cut = end.map(|end| format!("{}\u{2026}", &text[..end]));
    let text = cut.as_deref().unwrap_or(text);
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
    /// Whether backticks are backticks.
    pub(crate) is_verbatim: bool,
}

impl HtmlCell {
    /// A cell with nothing in it.
    pub(crate) const EMPTY: HtmlCell =
        HtmlCell { text: String::new(), is_number: false, is_best: false, is_verbatim: false };

    /// A text.
    pub(crate) fn text(text: impl Into<String>) -> HtmlCell {
        HtmlCell { text: text.into(), ..HtmlCell::default() }
    }

    /// A text in which backticks are backticks.
    pub(crate) fn verbatim(text: impl Into<String>) -> HtmlCell {
        HtmlCell { text: text.into(), is_verbatim: true, ..HtmlCell::default() }
    }

    /// A number.
    pub(crate) fn number(text: impl Into<String>) -> HtmlCell {
        HtmlCell { text: text.into(), is_number: true, ..HtmlCell::default() }
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
        let mut page = Page { title: title.to_owned(), ..Page::default() };
        page.add(&format!("<h1>{}</h1>\n", inline(title)));
        page
    }

    /// Adds markup, if there is room for it.
    fn add(&mut self, markup: &str) {
        if self.body.len() + markup.len() > MOST_TEXT {
            self.is_cut = true;
        } else {
            self.body.push_str(markup);
        }
    }

    /// A part with its heading.
    pub(crate) fn part(&mut self, heading: &str) {
        self.add(&format!("<h2>{}</h2>\n", escaped(heading)));
    }

    /// The first part of what only some read: on paper it begins a page.
    pub(crate) fn details_from(&mut self, heading: &str) {
        self.add(&format!("<h2 class=\"details\">{}</h2>\n", escaped(heading)));
    }

    /// A smaller part with its heading.
    pub(crate) fn section(&mut self, heading: &str) {
        self.add(&format!("<h3>{}</h3>\n", inline(heading)));
    }

    /// What a document says at its head: names and texts.
    pub(crate) fn about(&mut self, entries: &[(&str, String)]) {
        let entry = |(name, text): &(&str, String)| {
            format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), inline(text))
        };
        self.add(&format!(
            "<dl class=\"about\">\n{}</dl>\n",
            entries.iter().map(entry).collect::<String>()
        ));
    }

    /// Lines to be filled in by hand, some of which are filled in already.
    pub(crate) fn sign(&mut self, entries: &[(&str, String)]) {
        let entry = |(name, text): &(&str, String)| {
            format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(name), inline(text))
        };
        self.add(&format!(
            "<dl class=\"sign\">\n{}</dl>\n",
            entries.iter().map(entry).collect::<String>()
        ));
    }

    /// A paragraph that stands out.
    pub(crate) fn mark(&mut self, text: &str) {
        self.add(&format!("<p class=\"mark\">{}</p>\n", inline(text)));
    }

    /// Sentences one below another.
    pub(crate) fn list(&mut self, items: &[String]) {
        let mut all = String::from("<ul>\n");
        for item in items {
            let item = format!("<li>{}</li>\n", inline(item));
            if self.body.len() + all.len() + item.len() + 100 > MOST_TEXT {
                self.is_cut = true;
                break;
            }
            all.push_str(&item);
        }
        self.add(&(all + "</ul>\n"));
    }

    /// Text as it is, line by line, below a line that unfolds it.
    pub(crate) fn verbatim(&mut self, summary: &str, text: &str) {
        const MOST: usize = 100_000;
        let cut = text.char_indices().nth(MOST).map_or(text.len(), |(end, _)| end);
        let more = if cut < text.len() { "\n\u{2026} (cut here)" } else { "" };
        let (summary, text) = (escaped(summary), escaped(&text[..cut]));
        self.add(&format!(
            "<details><summary>{summary}</summary><pre>{text}{more}</pre></details>\n"
        ));
    }

    /// Figures with what they mean. How they are worked out is folded below them; attackers are
    /// told of once on a page.
    pub(crate) fn cards(&mut self, cards: &[Card]) {
        let mut all = String::from("<dl class=\"cards\">\n");
        for Card { name, value, beside, meaning, .. } in cards {
            let beside: Vec<String> =
                beside.iter().map(|text| format!(" <span>{}</span>", escaped(text))).collect();
            all.push_str(&format!(
                "<div><dt>{}</dt><dd class=\"value\">{}{}</dd><dd class=\"note\">{}</dd></div>\n",
                inline(name),
                escaped(value),
                beside.concat(),
                inline(meaning)
            ));
        }
        self.add(&(all + "</dl>\n"));
        let mut formulas = String::new();
        for Card { name, formula, .. } in cards.iter().filter(|card| !card.formula.is_empty()) {
            formulas.push_str(&format!(
                "<dt>{}</dt><dd><code>{}</code></dd>\n",
                inline(name),
                escaped(formula)
            ));
        }
        let mut attackers = Vec::new();
        for attacker in cards.iter().filter_map(|card| card.attacker) {
            if !self.attackers.contains(&attacker) {
                self.attackers.push(attacker);
                attackers.push(attacker.to_owned());
            }
        }
        if !attackers.is_empty() {
            self.say("Attackers:");
            self.list(&attackers);
        }
        if !formulas.is_empty() {
            self.add(&format!(
                "<details><summary>How these figures are worked out</summary><dl>\n{formulas}</dl></details>\n"
            ));
        }
    }

    /// A paragraph.
    pub(crate) fn say(&mut self, text: &str) {
        self.add(&format!("<p>{}</p>\n", inline(text)));
    }

    /// A remark.
    pub(crate) fn remark(&mut self, text: &str) {
        self.add(&format!("<p class=\"faint\">{}</p>\n", inline(text)));
    }

    /// A table; numbers are to the right.
    pub(crate) fn table(&mut self, header: &[(&str, bool)], rows: &[Vec<HtmlCell>]) {
        self.table_as("<table>", header, rows);
    }

    /// A table of texts that speak for themselves: on a phone its cells stand one below another.
    pub(crate) fn stack(&mut self, header: &[&str], rows: &[Vec<HtmlCell>]) {
        let header: Vec<(&str, bool)> = header.iter().map(|name| (*name, false)).collect();
        self.table_as("<table class=\"stack\">", &header, rows);
    }

    fn table_as(&mut self, tag: &str, header: &[(&str, bool)], rows: &[Vec<HtmlCell>]) {
        let mut all = format!("<div class=\"wide\">{tag}\n<thead><tr>");
        for (name, is_number) in header {
            if name.is_empty() {
                all.push_str("<td></td>");
                continue;
            }
            let class = if *is_number { " class=\"number\"" } else { "" };
            all.push_str(&format!("<th{class} scope=\"col\">{}</th>", inline(name)));
        }
        all.push_str("</tr></thead>\n<tbody>\n");
        for row in rows {
            let row = row_of(row);
            if self.body.len() + all.len() + row.len() + 100 > MOST_TEXT {
                self.is_cut = true;
                break;
            }
            all.push_str(&row);
        }
        self.add(&(all + "</tbody></table></div>\n"));
    }

    /// Pictures side by side, each with what it shows, which is also its name for those who do not
    /// see it. The SVG is our own: text in it is escaped already. Pictures that would make the page
    /// too large are left out.
    pub(crate) fn figures(&mut self, figures: &[(String, String)]) {
        let mut all = String::from("<div class=\"figures\">\n");
        for (svg, caption) in figures {
            let caption = inline(caption).replace("<code>", "").replace("</code>", "");
            let named = format!("<svg role=\"img\" aria-label=\"{caption}\" ");
            let svg: String = svg.replacen("<svg ", &named, 1).chars().map(allowed).collect();
            let figure = format!("<figure>{svg}<figcaption>{caption}</figcaption></figure>\n");
            if self.body.len() + all.len() + figure.len() > MOST_PICTURES {
                self.n_pictures_left_out += 1;
            } else {
                all.push_str(&figure);
            }
        }
        self.add(&(all + "</div>\n"));
    }

    /// The whole file, of 2 MB at most.
    pub(crate) fn html(mut self) -> String {
        if self.n_pictures_left_out > 0 {
            let n = count(self.n_pictures_left_out as u64);
            let text = format!("Left out, since a page has 2 MB at most: {n} more pictures.");
            self.body.push_str(&format!("<p class=\"faint\">{text}</p>\n"));
        }
        if self.is_cut {
            let text = "A page has 2 MB at most: what comes after that is left out.";
            self.body.push_str(&format!("<p class=\"faint\">{text}</p>\n"));
        }
        let title: String = self.title.chars().take(MOST_CHARACTERS).collect();
        let title = escaped(&title);
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
            self.body
        )
    }
}

/// A row of a table.
fn row_of(row: &[HtmlCell]) -> String {
    let mut all = String::from("<tr>");
    for HtmlCell { text, is_number, is_best, is_verbatim } in row {
        let class = match (is_number, is_best) {
            (true, true) => " class=\"number best\"",
            (true, false) => " class=\"number\"",
            (false, true) => " class=\"best\"",
            (false, false) => "",
        };
        let text = if *is_verbatim { escaped(text) } else { inline(text) };
        all.push_str(&format!("<td{class}>{text}</td>"));
    }
    all + "</tr>\n"
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
    fn a_page_has_2_mb_at_most() {
        let mut page = Page::new(&"t".repeat(3_000_000));
        let long = "<&\u{1F600}".repeat(3_000);
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\"><path d=\"{}\"/></svg>",
            "M0 0".repeat(9_000)
        );
        page.figures(&vec![(svg, long.clone()); 99]);
        page.list(&vec![long.clone(); 999]);
        page.table(&[("a", false)], &vec![vec![HtmlCell::text(long.clone())]; 999]);
        page.verbatim("job", &long.repeat(99));
        page.say(&long);
        let html = page.html();
        assert!(html.len() <= 2_000_000, "{}", html.len());
        assert!(
            html.ends_with("</html>\n")
                && html.matches("<ul>").count() == html.matches("</ul>").count()
        );
        assert!(html.contains("more pictures") && html.contains("is left out."));
    }

    #[test]
    fn formulas_are_folded_and_attackers_stand_once() {
        let mut page = Page::new("t");
        let card =
            Card { formula: "a < b".to_owned(), attacker: Some("somebody"), ..Card::default() };
        page.cards(&[card.clone(), card.clone()]);
        page.cards(&[card]);
        let html = page.html();
        assert_eq!(html.matches("somebody").count(), 1);
        assert_eq!(html.matches("<details>").count(), 2);
        assert_eq!(html.matches("<code>a &lt; b</code>").count(), 3);
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
