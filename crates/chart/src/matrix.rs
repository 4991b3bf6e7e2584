//! Numbers from -1 to 1 for every pair of names.

use plotters::prelude::*;

use crate::frame::{Drawn, FONT, Sheet, TEXT_SIZE, framed, text_width, told_apart};

/// A square of numbers from -1 to 1, printed in hundredths: the further from 0, the stronger the
/// colour.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// The title above the picture.
    pub title: String,
    /// The names, down and across.
    pub names: Vec<String>,
    /// By row, a number for each column; NaN leaves its place empty.
    pub values: Vec<Vec<f64>>,
}

/// Width and height of a place.
const PLACE: i32 = 28;
/// Characters of a name that are shown.
const MOST_CHARACTERS: usize = 14;

impl Matrix {
    /// The picture as SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        let n = i32::try_from(self.names.len()).unwrap_or(i32::MAX / 1000);
        let (width, height) = (self.left() + n * PLACE + 20, 30 + n * PLACE + 40);
        let size = (width.max(300).unsigned_abs(), height.unsigned_abs());
        framed(size, &self.title, &[], |_, _, _| Ok(()), |sheet| self.draw(sheet))
    }

    fn left(&self) -> i32 {
        24 + self.shown().iter().map(|name| text_width(name)).max().unwrap_or(0)
    }

    /// The names with the numbers that represent them below the columns.
    fn shown(&self) -> Vec<String> {
        let names = told_apart(&self.names, MOST_CHARACTERS);
        (1..).zip(names).map(|(at, name)| format!("{at} {name}")).collect()
    }

    fn draw(&self, sheet: &Sheet) -> Drawn {
        let left = self.left();
        for ((y, at), name) in (0..).map(|row| row * PLACE).zip(0..).zip(self.shown()) {
            let middle = y + PLACE / 2 - 7;
            sheet.draw(&Text::new(name, (14, middle), (FONT, TEXT_SIZE)))?;
            for (x, value) in (0..).map(|column| left + column * PLACE).zip(&self.values[at]) {
                if value.is_finite() {
                    place(sheet, (x, y), *value)?;
                }
            }
        }
        let below = i32::try_from(self.names.len()).unwrap_or(0) * PLACE + 4;
        for (x, at) in (0..).map(|column| left + column * PLACE).zip(1..=self.names.len()) {
            let centre = x + PLACE / 2 - text_width(&at.to_string()) / 2;
            sheet.draw(&Text::new(at.to_string(), (centre, below), (FONT, TEXT_SIZE)))?;
        }
        Ok(())
    }
}

/// A number on its colour: blue above zero, orange below.
fn place(sheet: &Sheet, (x, y): (i32, i32), value: f64) -> Drawn {
    let strength = value.abs().min(1.0);
    let (red, green, blue) = if value < 0.0 { (213, 94, 0) } else { (0, 114, 178) };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between the colour and white"
    )]
    let mixed = |part: u8| (255.0 - (255.0 - f64::from(part)) * strength).round() as u8;
    let fill = RGBColor(mixed(red), mixed(green), mixed(blue));
    sheet.draw(&Rectangle::new([(x, y), (x + PLACE - 2, y + PLACE - 2)], fill.filled()))?;
    let ink = if strength > 0.55 { WHITE } else { BLACK };
    let text = format!("{:.0}", 100.0 * value);
    let text = if text == "-0" { "0".to_owned() } else { text };
    let centre = x + PLACE / 2 - text_width(&text) / 2;
    sheet.draw(&Text::new(
        text,
        (centre, y + PLACE / 2 - 7),
        (FONT, TEXT_SIZE).into_font().color(&ink),
    ))
}
