//! What can be told of a page from its markup.

use std::collections::BTreeSet;

use html5ever::tendril::TendrilSink;
use html5ever::tree_builder::QuirksMode;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};

/// What a browser must refuse: everything but styles of the page's own.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// Elements that run or fetch something, or lead elsewhere.
const FORBIDDEN: [&str; 14] = [
    "applet",
    "audio",
    "base",
    "embed",
    "foreignObject",
    "form",
    "frame",
    "iframe",
    "link",
    "object",
    "script",
    "source",
    "track",
    "video",
];

/// An element with what is below it.
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    /// All text below it.
    text: String,
    /// The names of all elements below it that have text, and that text.
    below: Vec<(String, String)>,
}

impl Element {
    fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(of, _)| of == name);
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    fn has_below(&self, name: &str) -> bool {
        self.below.iter().any(|(of, text)| of == name && !text.trim().is_empty())
    }
}

/// All that is wrong with a page.
pub(super) fn faults(html: &str) -> Vec<String> {
    let options = ParseOpts::default();
    let page = parse_document(RcDom::default(), options).one(html);
    let mut faults: Vec<String> =
        page.errors.borrow().iter().map(|error| format!("not valid: {error}")).collect();
    if page.quirks_mode.get() != QuirksMode::NoQuirks {
        faults.push("not valid: read as a page of old".to_owned());
    }
    let mut elements = Vec::new();
    gather(&page.document, &mut elements);
    faults.extend(head(&elements));
    faults.extend(headings(&elements));
    faults.extend(names(&elements));
    faults.extend(ids(&elements));
    faults.extend(elements.iter().flat_map(outside));
    faults
}

/// The elements from a node on, in the order of the page; gives the node's text.
fn gather(node: &Handle, elements: &mut Vec<Element>) -> String {
    let at = elements.len();
    match &node.data {
        NodeData::Text { contents } => return contents.borrow().to_string(),
        NodeData::Element { name, attrs, .. } => {
            let attributes = attrs.borrow();
            let of = attributes.iter().map(|of| (of.name.local.to_string(), of.value.to_string()));
            elements.push(Element {
                name: name.local.to_string(),
                attributes: of.collect(),
                text: String::new(),
                below: Vec::new(),
            });
        }
        _ => {}
    }
    let first = elements.len();
    let text: String = node.children.borrow().iter().map(|child| gather(child, elements)).collect();
    if matches!(node.data, NodeData::Element { .. }) {
        let below = elements[first..].iter().map(|of| (of.name.clone(), of.text.clone())).collect();
        elements[at].below = below;
        elements[at].text.clone_from(&text);
    }
    text
}

fn named<'a>(elements: &'a [Element], name: &'a str) -> impl Iterator<Item = &'a Element> {
    elements.iter().filter(move |element| element.name == name)
}

/// What a browser and a reading machine ask for first.
fn head(elements: &[Element]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut must = |is_there: bool, what: &str| {
        if !is_there {
            faults.push(what.to_owned());
        }
    };
    let meta = |key: &str, value: &str| {
        let is_it =
            |of: &&Element| of.attribute(key).is_some_and(|of| of.eq_ignore_ascii_case(value));
        named(elements, "meta")
            .find(is_it)
            .and_then(|of| of.attribute("content"))
            .unwrap_or_default()
    };
    must(named(elements, "html").any(|of| of.attribute("lang").is_some()), "no language");
    must(named(elements, "head").any(|of| of.has_below("title")), "no title");
    must(
        named(elements, "meta").any(|of| of.attribute("charset") == Some("utf-8")),
        "no character set",
    );
    must(meta("name", "viewport").contains("width=device-width"), "no viewport");
    must(
        meta("http-equiv", "content-security-policy") == POLICY,
        "no policy that forbids all but styles",
    );
    let others = named(elements, "meta").filter_map(|of| of.attribute("http-equiv"));
    must(others.count() <= 1, "more than a policy in http-equiv");
    faults
}

/// One h1 at the top, and none that skips a level on the way down.
fn headings(elements: &[Element]) -> Vec<String> {
    let level = |of: &Element| of.name.strip_prefix('h')?.parse::<u32>().ok();
    let levels: Vec<u32> = elements.iter().filter_map(level).collect();
    let mut faults = Vec::new();
    let n_tops = levels.iter().filter(|level| **level == 1).count();
    if n_tops != 1 || levels[0] != 1 {
        faults.push(format!("{n_tops} headings h1, where one must be the first of all"));
    }
    let skips = levels.windows(2).filter(|two| two[1] > two[0] + 1);
    faults.extend(skips.map(|two| format!("h{} follows h{}", two[1], two[0])));
    let empty = elements.iter().filter(|of| level(of).is_some() && of.text.trim().is_empty());
    faults.extend(empty.map(|of| format!("an empty {}", of.name)));
    faults
}

/// Pictures and tables say what they show, also to those who do not see them.
fn names(elements: &[Element]) -> Vec<String> {
    let mut faults = Vec::new();
    for element in elements {
        let is_named = || element.attribute("aria-label").is_some() || element.has_below("title");
        match element.name.as_str() {
            "figure" if !element.has_below("figcaption") => {
                faults.push("a figure without a caption");
            }
            "svg" if element.attribute("role") != Some("img") || !is_named() => {
                faults.push("an svg without a name");
            }
            "img" if !element.attributes.iter().any(|(name, _)| name == "alt") => {
                faults.push("an image without a text");
            }
            "table" if !element.has_below("th") => faults.push("a table without headings"),
            "th" if element.text.trim().is_empty() => faults.push("an empty heading of a table"),
            _ => {}
        }
    }
    faults.into_iter().map(str::to_owned).collect()
}

/// Every id is there once, and every link leads to one.
fn ids(elements: &[Element]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let ids = elements.iter().filter_map(|of| of.attribute("id"));
    let twice = ids.filter(|id| !seen.insert(*id));
    let mut faults: Vec<String> = twice.map(|id| format!("the id `{id}` stands twice")).collect();
    let targets = elements.iter().filter_map(|of| of.attribute("href")?.strip_prefix('#'));
    let lost = targets.filter(|target| !seen.contains(target));
    faults.extend(lost.map(|target| format!("href leads to no id: #{target}")));
    faults
}

/// Whatever of an element fetches something, runs, or leads away.
fn outside(element: &Element) -> Vec<String> {
    let mut faults = Vec::new();
    if FORBIDDEN.contains(&element.name.as_str()) {
        faults.push(format!("<{}> has no place", element.name));
    }
    let fetches = |text: &str| {
        let text = text.to_ascii_lowercase();
        text.contains("url(") || text.contains("@import") || text.contains("image-set(")
    };
    if element.name == "style" && fetches(&element.text) {
        faults.push("a style leads outside".to_owned());
    }
    for (name, value) in &element.attributes {
        let is_free_text = matches!(name.as_str(), "aria-label" | "content");
        let leads_outside = match name.as_str() {
            "src" | "srcset" | "poster" | "data" | "action" | "formaction" | "ping" => true,
            "href" => !value.starts_with('#'),
            _ => !is_free_text && fetches(value),
        };
        if leads_outside {
            faults.push(format!("{name} leads outside"));
        }
        if name.starts_with("on") {
            faults.push(format!("{name} is a script"));
        }
    }
    faults
}
