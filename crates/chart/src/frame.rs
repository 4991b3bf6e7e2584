//! What all charts share: the sheet, the title, the legend, the colours.

use plotters::coord::Shift;
use plotters::prelude::*;

/// A sheet to draw on.
pub(crate) type Sheet<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The result of drawing; drawing into text never fails.
pub(crate) type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// The width of a chart: narrow enough to be readable when scaled to a phone.
pub(crate) const WIDTH: i32 = 440;
pub(crate) const FONT: &str = "sans-serif";
const TITLE_SIZE: i32 = 17;
pub(crate) const TEXT_SIZE: i32 = 13;
pub(crate) const LINE_HEIGHT: i32 = 20;
/// Room for the mark of a series in the legend.
const MARK_WIDTH: i32 = 26;

/// Colours that people with any kind of colour vision can distinguish (Okabe and Ito).
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
    RGBColor(140, 140, 140),
];

/// The colour of the n-th series.
pub(crate) fn colour(at: usize) -> RGBColor {
    COLOURS[at % COLOURS.len()]
}

/// Draws a chart under its title and legend on a sheet of this size.
pub(crate) fn framed(
    (width, height): (u32, u32),
    title: &str,
    legend: &[&str],
    mark: impl Fn(&Sheet, usize, (i32, i32)) -> Drawn,
    draw: impl FnOnce(&Sheet) -> Drawn,
) -> String {
    let mut svg = String::new();
    let sheet = SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area();
    let drawn = sheet
        .fill(&WHITE)
        .and_then(|()| heading(&sheet, title, legend, mark))
        .and_then(|rows| {
            let top = 30 + LINE_HEIGHT * rows;
            draw(&sheet.split_vertically(top).1)
        })
        .and_then(|()| sheet.present());
    drawn.expect("a chart is drawn into memory");
    drop(sheet);
    svg
}

/// Draws the title and the legend below it; returns the rows of the legend.
fn heading(
    sheet: &Sheet,
    title: &str,
    legend: &[&str],
    mark: impl Fn(&Sheet, usize, (i32, i32)) -> Drawn,
) -> Result<i32, DrawingAreaErrorKind<std::io::Error>> {
    sheet.draw(&Text::new(title.to_owned(), (14, 9), (FONT, TITLE_SIZE)))?;
    let (width, _) = sheet.dim_in_pixel();
    let (mut x, mut row) = (14, 0);
    for (at, name) in legend.iter().enumerate() {
        let name_width = text_width(name);
        let right = i32::try_from(width).unwrap_or(i32::MAX) - 10;
        if x > 14 && x + MARK_WIDTH + name_width > right {
            (x, row) = (14, row + 1);
        }
        let middle = 32 + row * LINE_HEIGHT + LINE_HEIGHT / 2;
        mark(sheet, at, (x, middle))?;
        let place = (x + MARK_WIDTH, middle - 8);
        sheet.draw(&Text::new((*name).to_owned(), place, (FONT, TEXT_SIZE)))?;
        x += MARK_WIDTH + name_width + 16;
    }
    Ok(if legend.is_empty() { 0 } else { row + 1 })
}

/// The rows that a legend takes on a sheet of this width.
pub(crate) fn legend_rows(width: i32, legend: &[&str]) -> i32 {
    let (mut x, mut rows) = (14, i32::from(!legend.is_empty()));
    for name in legend {
        let wide = MARK_WIDTH + text_width(name);
        if x > 14 && x + wide > width - 10 {
            (x, rows) = (14, rows + 1);
        }
        x += wide + 16;
    }
    rows
}

/// The approximate width of a text; the exact width depends on the reader's font.
pub(crate) fn text_width(text: &str) -> i32 {
    i32::try_from(text.chars().count() * 7).unwrap_or(i32::MAX / 4)
}

/// A text of at most `most` characters: its beginning and its end, where long texts usually differ.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(1);
    let (start, end) = (kept.div_ceil(2), kept / 2);
    let start: String = characters[..start].iter().collect();
    let end: String = characters[characters.len() - end..].iter().collect();
    format!("{start}\u{2026}{end}")
}

/// Names of at most `most` characters. Names that become equal by shortening are numbered.
pub(crate) fn told_apart(names: &[String], most: usize) -> Vec<String> {
    let short: Vec<String> = names.iter().map(|name| shortened(name, most)).collect();
    let number = |(at, name): (usize, &String)| {
        let alike = |other: usize| short[other] == *name && names[other] != names[at];
        if !(0..names.len()).any(alike) {
            return name.clone();
        }
        let mut before: Vec<&String> =
            (0..at).filter(|&at| short[at] == *name).map(|at| &names[at]).collect();
        before.push(&names[at]);
        before.dedup();
        let number = format!(" ({})", before.len());
        shortened(&names[at], most.saturating_sub(number.chars().count())) + &number
    };
    short.iter().enumerate().map(number).collect()
}

/// A line style that is faint enough to be drawn under the numbers.
pub(crate) fn faint() -> ShapeStyle {
    RGBColor(225, 225, 225).stroke_width(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_differ_if_long_ones_do() {
        let names = ["age, sex, marital-status, occupation", "age, sex, marital-status, education"];
        let names = names.map(str::to_owned);
        let short = told_apart(&names, 20);
        assert!(short[0] != short[1] && short.iter().all(|name| name.chars().count() <= 20));
        let alike = ["abcdefghij-1-klmnopqrst", "abcdefghij-2-klmnopqrst"].map(str::to_owned);
        assert_eq!(told_apart(&alike, 12), ["abcd\u{2026}rst (1)", "abcd\u{2026}rst (2)"]);
        assert_eq!(told_apart(&["a".to_owned(), "a".to_owned()], 12), ["a", "a"]);
    }
}
