//! What butterflies lose and how long they take, judged.

use crate::reproduce::{Cases, Claim, Judged, Numbers, OURS, Row, Table};

/// A place of the axis: the rows of the three ways.
struct Point<'a> {
    table: &'a str,
    /// The name of the axis.
    axis: &'a str,
    x: &'a str,
    union: Row<'a>,
    paper: Row<'a>,
    ours: Row<'a>,
}

impl Point<'_> {
    fn name(&self) -> String {
        format!("{}, {} {}", self.table, self.axis, self.x)
    }

    /// By how much the loss of a way is below the union's, as a share.
    fn gain(&self, way: Row) -> f64 {
        1.0 - way.number("loss") / self.union.number("loss")
    }
}

fn points(table: &Table) -> Vec<Point<'_>> {
    let axis = table.columns[1].as_str();
    let mut points = Vec::new();
    for name in table.distinct("table") {
        for x in table.distinct(axis) {
            let way = |way: &str| {
                let is_it = |row: &Row| {
                    row.text("table") == name && row.text(axis) == x && row.text("way") == way
                };
                table.rows().find(is_it)
            };
            let ways = [way("union"), way("butterfly, paper"), way("butterfly")];
            if let [Some(union), Some(paper), Some(ours)] = ways {
                points.push(Point { table: name, axis, x, union, paper, ours });
            }
        }
    }
    points
}

/// What holds for every point.
fn losses(points: &[Point]) -> Vec<Claim> {
    let cases = |is: &dyn Fn(&Point) -> bool| {
        Cases::of(points.iter().map(|point| (point.name(), is(point))))
    };
    let loss = |row: Row| row.number("loss");
    let below = cases(&|point| loss(point.paper) <= loss(point.union));
    // "Substantially" is taken as a tenth.
    let paper = cases(&|point| point.gain(point.paper) >= 0.1);
    let ours = cases(&|point| point.gain(point.ours) >= 0.1);
    let further = cases(&|point| loss(point.ours) <= loss(point.paper));
    let gains = |of: &dyn Fn(&Point) -> f64| {
        let all: Vec<f64> = points.iter().map(of).collect();
        let least = all.iter().copied().fold(f64::INFINITY, f64::min);
        let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        format!("{:.0}% to {:.0}% lower", 100.0 * least, 100.0 * most)
    };
    vec![
        Claim::new(
            "section III, Figure 2",
            "A butterfly is made only where it loses less, so that the method never loses more than the union",
            below.found(),
            &below,
        ),
        Claim::new(
            "section I",
            "The method is substantially better than the union (the paper's pass, by a tenth at least)",
            format!("{}; {}", paper.found(), gains(&|point| point.gain(point.paper))),
            &paper,
        )
        .because("the paper prints no experiments. Its pass follows the tree of the union's cuts, \
                  and if that tree cuts shared columns early, there is little left to join"),
        Claim::new(
            OURS,
            "Our butterflies are substantially better than the union",
            format!("{}; {}", ours.found(), gains(&|point| point.gain(point.ours))),
            &ours,
        ),
        Claim::new(OURS, "They lose no more than the paper's pass", further.found(), &further),
    ]
}

/// Whether what is gained changes in one direction along the axis, table by table.
fn trend(points: &[Point], says: &str, rises: bool) -> Claim {
    let steps = points.windows(2).filter(|pair| pair[0].table == pair[1].table).map(|pair| {
        let [first, second] = [&pair[0], &pair[1]].map(|point| point.gain(point.ours));
        (
            format!("{} from {} to {}", pair[0].table, pair[0].x, pair[1].x),
            (second > first) == rises,
        )
    });
    let cases = Cases::of(steps);
    let gains: Vec<String> = points
        .iter()
        .map(|point| format!("{:.0}% at {}", 100.0 * point.gain(point.ours), point.name()))
        .collect();
    Claim::new(OURS, says, format!("step by step: {}; {}", cases.found(), gains.join(", ")), &cases)
}

fn judged(text: &str, claims: Vec<Claim>) -> Judged {
    Judged { text: text.to_owned(), shown: Vec::new(), claims, ..Judged::default() }
}

/// Loss by k.
pub(crate) fn by_k(numbers: &Numbers) -> Judged {
    let points = points(numbers.main());
    let grows = points.windows(2).filter(|pair| pair[0].table == pair[1].table).map(|pair| {
        let [first, second] = [&pair[0], &pair[1]].map(|point| point.ours.number("loss"));
        (format!("{} from {} to {}", pair[0].table, pair[0].x, pair[1].x), first < second)
    });
    let grows = Cases::of(grows);
    let mut claims = losses(&points);
    claims.push(Claim::new(
        OURS,
        "Loss grows with k",
        format!("step by step: {}", grows.found()),
        &grows,
    ));
    judged(
        "Two sets of four columns that share two: of Adult (45,222 rows; quick 5,000) age and sex with education and \
         marital status, and with occupation and race; and of a table of uniform codes (30,000 rows, eight \
         values a column; quick 5,000).",
        claims,
    )
}

/// Loss by what two sets share.
pub(crate) fn by_overlap(numbers: &Numbers) -> Judged {
    let points = points(numbers.main());
    let mut claims = losses(&points);
    claims.push(trend(
        &points,
        "The more the sets share, the less is gained over the union",
        false,
    ));
    judged(
        "Two sets of four columns, k = 10. The fewer columns they share, the more the union \
         protects that neither reader needs. If they share nothing, the sets are protected one by \
         one.",
        claims,
    )
}

/// Loss by the number of sets.
pub(crate) fn by_sets(numbers: &Numbers) -> Judged {
    let points = points(numbers.main());
    let mut claims = losses(&points);
    claims.push(trend(&points, "The more sets, the more is gained over the union", true));
    judged(
        "Two, three and four sets of four columns that all share two, k = 10: of synthetic people and of uniform \
         codes (30,000 rows; quick 5,000). The paper describes two sets and says that more are possible.",
        claims,
    )
}

/// Time by rows.
pub(crate) fn times(numbers: &Numbers) -> Judged {
    let points = points(numbers.main());
    let mut claims = losses(&points);
    let ratio = |column: &'static str| {
        move |point: &Point| point.ours.number(column) / point.union.number(column)
    };
    let list = |of: &dyn Fn(&Point) -> f64| {
        let one = |point: &Point| format!("{:.1} at {} rows", of(point), point.x);
        points.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let command = ratio("command_s");
    let cases =
        Cases::of(points.iter().map(|point| (format!("{} rows", point.x), command(point) < 3.0)));
    claims.push(
        Claim::new(
            OURS,
            "A release for several sets takes less than three times as long as one for their union",
            format!(
                "the whole command: {}; the search alone: {}",
                list(&command),
                list(&ratio("search_s"))
            ),
            &cases,
        )
        .timing(),
    );
    judged(
        "Two sets of four columns of synthetic people that share age and sex, k = 10. The seconds are of whole \
         commands, reading, writing and verifying included; the CSV file has those of the search alone.",
        claims,
    )
}
