//! What a paper says, what was measured, and whether the two are the same.

use std::fmt;

/// The place of a question that no paper asks.
pub(crate) const OURS: &str = "our question";
/// The place of something that cannot be otherwise: a check of our own programs.
pub(crate) const CHECK: &str = "a check";

/// Whether what a paper says is what the numbers say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// In half of the cases or fewer.
    Differs,
    /// The numbers cannot tell.
    NotShown,
    /// In more than half of the cases, not in all.
    Partly,
    /// In every case of which the paper speaks.
    Agrees,
}

/// The cases of a statement: where it is true, where it is not, and where the numbers cannot tell.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cases {
    yes: Vec<String>,
    no: Vec<String>,
    open: Vec<String>,
}

/// A verdict, and how many cases it stands on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judgement {
    verdict: Verdict,
    n_false: usize,
    n_cases: usize,
}

/// A statement of a paper with what was found about it.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    /// What the paper says, in few words.
    pub(crate) says: String,
    /// Where it says so.
    pub(crate) place: &'static str,
    /// The numbers.
    pub(crate) found: String,
    /// What follows from them.
    pub(crate) verdict: Verdict,
    /// Cases that speak against it, and cases in all; none where there are no cases.
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests compare by it"))]
    pub(crate) against: (usize, usize),
    /// Whether it speaks of time, which no test relies on.
    pub(crate) is_timing: bool,
    /// Why they do not agree, if they do not.
    pub(crate) because: Option<&'static str>,
}

impl Claim {
    /// A statement, its place, the numbers, and the verdict on them.
    pub(crate) fn new(
        place: &'static str,
        says: impl Into<String>,
        found: impl Into<String>,
        judgement: impl Into<Judgement>,
    ) -> Claim {
        let Judgement { verdict, n_false, n_cases } = judgement.into();
        let (says, found, against) = (says.into(), found.into(), (n_false, n_cases));
        Claim { says, place, found, verdict, against, is_timing: false, because: None }
    }

    /// The same of times.
    pub(crate) fn timing(mut self) -> Claim {
        self.is_timing = true;
        self
    }

    /// Says why the numbers do not agree, if they do not.
    pub(crate) fn because(mut self, reason: &'static str) -> Claim {
        self.because = Some(reason);
        self
    }

    /// Whether a paper says it.
    pub(crate) fn is_papers(&self) -> bool {
        self.place != OURS && self.place != CHECK
    }

    /// The line of the page, and one for the reason.
    pub(crate) fn markdown(&self) -> String {
        let Claim { says, place, found, verdict, .. } = self;
        // No test relies on these, so a reader should know which they are.
        let time = if self.is_timing { " (time)" } else { "" };
        let mut text = format!("| {says} | {place} | {found} | {verdict}{time} |\n");
        if let Some(reason) = self.because.filter(|_| *verdict != Verdict::Agrees) {
            text.push_str(&format!("| | | *Why:* {reason} | |\n"));
        }
        text
    }
}

impl Cases {
    /// The cases by their names; a case of which the numbers do not tell has no answer.
    pub(crate) fn of<S: ToString>(
        cases: impl IntoIterator<Item = (S, impl Into<Option<bool>>)>,
    ) -> Cases {
        let mut all = Cases::default();
        for (name, answer) in cases {
            let list = match answer.into() {
                Some(true) => &mut all.yes,
                Some(false) => &mut all.no,
                None => &mut all.open,
            };
            list.push(name.to_string());
        }
        all
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.yes.len() + self.no.len() + self.open.len()
    }

    /// How many are true.
    pub(crate) fn n_true(&self) -> usize {
        self.yes.len()
    }

    /// How many are open.
    pub(crate) fn n_open(&self) -> usize {
        self.open.len()
    }

    /// Those that are true.
    pub(crate) fn yes_list(&self) -> String {
        if self.yes.is_empty() { "none".to_owned() } else { self.yes.join(", ") }
    }

    /// Those that are not true.
    pub(crate) fn no_list(&self) -> String {
        if self.no.is_empty() { "none".to_owned() } else { self.no.join(", ") }
    }

    /// How many of how many are true, and which are not; only how many are not, if they are more
    /// than a dozen.
    pub(crate) fn found(&self) -> String {
        let mut text = format!("{} of {}", self.yes.len(), self.len());
        for (list, what) in [(&self.no, "not"), (&self.open, "open")] {
            match list.len() {
                0 => {}
                1..=12 => text.push_str(&format!("; {what}: {}", list.join(", "))),
                n => text.push_str(&format!("; {what}: {n} cases")),
            }
        }
        text
    }

    /// What follows: in all cases, in more than half, in half or fewer; nothing, if no case speaks
    /// against the statement and too few speak for it. Where open cases would decide between the
    /// second and the third, those that are settled do.
    pub(crate) fn verdict(&self) -> Verdict {
        let (yes, no, all) = (self.yes.len(), self.no.len(), self.len());
        match () {
            () if all > 0 && yes == all => Verdict::Agrees,
            () if 2 * yes > all => Verdict::Partly,
            () if no == 0 => Verdict::NotShown,
            () if yes > no && 2 * (yes + self.open.len()) > all => Verdict::Partly,
            () => Verdict::Differs,
        }
    }
}

/// Whether a number of which only the least and the greatest that it can be are known is above
/// another.
pub(crate) fn exceeds((least, most): (f64, f64), other: f64) -> Option<bool> {
    match () {
        () if least > other => Some(true),
        () if most <= other => Some(false),
        () => None,
    }
}

impl From<&Cases> for Judgement {
    fn from(cases: &Cases) -> Judgement {
        Judgement { verdict: cases.verdict(), n_false: cases.no.len(), n_cases: cases.len() }
    }
}

impl From<Verdict> for Judgement {
    fn from(verdict: Verdict) -> Judgement {
        Judgement { verdict, n_false: 0, n_cases: 0 }
    }
}

impl From<bool> for Judgement {
    fn from(holds: bool) -> Judgement {
        Judgement::from(if holds { Verdict::Agrees } else { Verdict::Differs })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Agrees => "agrees",
            Verdict::Partly => "**partly**",
            Verdict::Differs => "**differs**",
            Verdict::NotShown => "**not shown**",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Cases, Verdict};

    #[track_caller]
    fn check(cases: &str, expected: Verdict) {
        let answer = |letter: char| match letter {
            'y' => Some(true),
            'n' => Some(false),
            _ => None,
        };
        let cases = Cases::of(cases.chars().map(|letter| (letter, answer(letter))));
        assert_eq!(cases.verdict(), expected);
    }

    #[test]
    fn all_most_half_or_unknown() {
        check("yyy", Verdict::Agrees);
        check("yyn", Verdict::Partly);
        check("yn", Verdict::Differs);
        check("ynn", Verdict::Differs);
        check("", Verdict::NotShown);
    }

    #[test]
    fn open_cases_never_make_it_agree() {
        check("yy?", Verdict::Partly);
        check("y?", Verdict::NotShown);
        check("?", Verdict::NotShown);
        // One case against it refutes what is said of all; those that are settled decide how far.
        check("yyn????", Verdict::Partly);
        check("yn??", Verdict::Differs);
        check("ynn??", Verdict::Differs);
        check("n?", Verdict::Differs);
    }
}
