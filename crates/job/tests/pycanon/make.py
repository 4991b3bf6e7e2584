"""Makes the tables of this folder and `expected.json`: what pycanon says of them.

    python make.py [path of incrowd]

Any Python with pycanon will do; `expected.json` names the version. Without incrowd `release.csv` stays as it is.
The tables are the same in every run: their random numbers are seeded.

Beside pycanon's figures stand plain ones, counted here: the risk, and what pycanon rounds or defines otherwise
than the papers. Missing cells are left out, as pycanon drops rows without a quasi-identifier.
"""

import csv
import gzip
import json
import math
import random
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

import pandas
from pycanon import anonymity, metrics

FOLDER = Path(__file__).resolve().parent
ADULT = FOLDER / "../../../../examples/adult/adult.csv.gz"

# By table: quasi-identifiers, sensitive columns, and which of these are numbers.
CASES = [
    ("mixed.csv", ["a"], ["ill", "pay"], ["pay"]),
    ("mixed.csv", ["a", "b"], ["ill", "pay"], ["pay"]),
    ("mixed.csv", ["a", "b", "c"], ["pay"], ["pay"]),
    ("people.csv", ["age", "sex", "zip"], ["ill", "pay"], ["pay"]),
    ("release.csv", ["age", "sex", "zip"], ["ill", "pay"], ["pay"]),
    ("adult.csv", ["sex"], ["occupation", "hours-per-week"], ["hours-per-week"]),
    ("adult.csv", ["race", "sex"], ["occupation"], []),
    ("adult.csv", ["age", "sex"], ["race", "hours-per-week"], ["hours-per-week"]),
    ("even.csv", ["group"], ["ill"], []),
    ("likely.csv", ["group"], ["ill", "grade"], ["grade"]),
    ("one.csv", ["group"], ["ill"], []),
]


def write(name, header, rows):
    with open(FOLDER / name, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def make_tables():
    chance = random.Random(2026)
    ills = ["flu", "flu", "flu", "cold", "cold", "gout", "asthma", "hiv"]
    pays = [-20, 0, 10, 10.5, 10.5, 200, 3000]
    write(
        "mixed.csv",
        ["a", "b", "c", "ill", "pay"],
        [
            [
                chance.choice(["north", "south", "01", "1"]),
                chance.choice("xy"),
                chance.randrange(3),
                chance.choice(ills),
                chance.choice(pays),
            ]
            for _ in range(240)
        ],
    )
    write(
        "people.csv",
        ["age", "sex", "zip", "ill", "pay"],
        [
            [
                chance.randrange(18, 90),
                chance.choice(["Male", "Female"]),
                chance.choice(["53703", "53706", "53711"]),
                chance.choice(ills),
                chance.randrange(10, 60) * 100,
            ]
            for _ in range(300)
        ],
    )
    with gzip.open(ADULT, "rt") as file:
        rows = list(csv.DictReader(file))[:1000]
    columns = ["age", "sex", "race", "occupation", "hours-per-week"]
    write("adult.csv", columns, [[row[column] for column in columns] for row in rows])
    # Every class has as many values as any, all equally often.
    values = [("p", "abc", 2), ("q", "bcd", 1), ("r", "abd", 3)]
    even = [[group, ill] for group, ills, times in values for ill in ills for _ in range(times)]
    write("even.csv", ["group", "ill"], even)
    # Classes that are nearly like the table.
    likely = [
        [group, ill, grade]
        for group, counts in [("p", [3, 3, 3, 4]), ("q", [4, 3, 3, 3]), ("r", [3, 4, 4, 3])]
        for (ill, grade), times in zip([("x", 1), ("y", 2), ("z", 3), ("w", 4)], counts)
        for _ in range(times)
    ]
    write("likely.csv", ["group", "ill", "grade"], likely)
    write("one.csv", ["group", "ill"], [[group, "flu"] for group in "ppqqq"])


def release(incrowd):
    """The people, released by incrowd: ranges and sets as text."""
    flags = "-k 4 --quasi age,sex,zip --sensitive ill,pay --l-diversity ill=distinct:2 --force"
    paths = [str(FOLDER / "people.csv"), "-o", str(FOLDER / "release.csv")]
    subprocess.run([incrowd, "anonymize", *paths, *flags.split()], check=True)


def read(name, numbers):
    table = pandas.read_csv(FOLDER / name, dtype=str, keep_default_na=False)
    for column in numbers:
        table[column] = pandas.to_numeric(table[column])
    return table


def of_pycanon(table, quasi, sensitive, gen=True):
    """What pycanon says; `None` where it says that there is no number."""
    alpha, k = anonymity.alpha_k_anonymity(table, quasi, sensitive, gen=gen)
    found = {
        "k": int(k),
        "l_distinct": int(anonymity.l_diversity(table, quasi, sensitive, gen=gen)),
        "l_entropy": int(anonymity.entropy_l_diversity(table, quasi, sensitive, gen=gen)),
        "t": float(anonymity.t_closeness(table, quasi, sensitive, gen=gen)),
        "alpha": float(alpha),
        "delta": float(anonymity.delta_disclosure(table, quasi, sensitive, gen=gen)),
        "beta": float(anonymity.basic_beta_likeness(table, quasi, sensitive, gen=gen)),
        "beta_enhanced": float(anonymity.enhanced_beta_likeness(table, quasi, sensitive, gen=gen)),
    }
    if gen:
        # Without it pycanon takes the l of other classes, and divides by 0.
        c, l = anonymity.recursive_c_l_diversity(table, quasi, sensitive)
        found["l_recursive"] = None if math.isnan(c) else [int(c), int(l)]
    return found


def by_class(table, quasi, column):
    classes = {}
    for key, value in zip(zip(*(table[name] for name in quasi)), table[column]):
        classes.setdefault(key, Counter())[value] += 1
    return list(classes.values())


def plain(table, quasi, column):
    """What pycanon rounds, or defines otherwise than the papers."""
    classes = by_class(table, quasi, column)
    whole = sum(classes, Counter())
    share = {value: Fraction(n, whole.total()) for value, n in whole.items()}
    entropies = [
        -sum(n / one.total() * math.log(n / one.total()) for n in one.values()) for one in classes
    ]
    # The paper sorts downwards: the commonest value against the l-th and all rarer ones.
    l = min(len(one) for one in classes)
    counts = [sorted(one.values(), reverse=True) for one in classes]
    c = max(Fraction(one[0], sum(one[l - 1 :])) for one in counts) if l > 1 else None
    gains = [
        (share[value], Fraction(n, one.total()) / share[value] - 1)
        for one in classes
        for value, n in one.items()
    ]
    beta = max(gain for _, gain in gains)
    holds = all(gain <= -math.log(p) + 1e-9 for p, gain in gains if gain > 0)
    return {
        "l_entropy": math.exp(min(entropies)),
        "l_recursive": None if c is None else [float(c), l],
        "beta_enhanced": float(beta) if holds else None,
        "rarest": -math.log(min(share.values())),
    }


def upwards(table, quasi, column):
    """The c that pycanon finds: it sorts the counts upwards, so its r_1 is the rarest value."""
    counts = [sorted(one.values()) for one in by_class(table, quasi, column)]
    l = min(len(one) for one in counts)
    return max(math.floor(one[0] / sum(one[l - 1 :]) + 1) for one in counts) if l > 1 else None


def risk(table, quasi):
    sizes = Counter(zip(*(table[name] for name in quasi))).values()
    of_records = [1 / size for size in sizes for _ in range(size)]
    share_above = {
        str(most): sum(risk > most for risk in of_records) / len(of_records)
        for most in [0.05, 0.09, 0.2]
    }
    found = {
        "prosecutor_max": max(of_records),
        "prosecutor_average": math.fsum(of_records) / len(of_records),
        "marketer": len(sizes) / len(of_records),
        "records_at_risk": sum(risk > 1 / 5 for risk in of_records),
        "share_above": share_above,
    }
    assert found["prosecutor_max"] == metrics.max_rir(table, quasi)
    # pycanon's mean is over classes, not over records: no figure of ours.
    in_classes = metrics.average_rir(table, quasi)
    assert math.isclose(in_classes, sum(1 / size for size in sizes) / len(sizes))
    return found


def of_case(table, quasi, sensitive):
    columns = {}
    for column in sensitive:
        theirs = of_pycanon(table, quasi, [column])
        of_recursive = theirs["l_recursive"]
        assert (of_recursive and of_recursive[0]) == upwards(table, quasi, column)
        columns[column] = {"pycanon": theirs, "plain": plain(table, quasi, column)}
    found = {"quasi": quasi, "sensitive": sensitive, "rows": len(table)}
    found["pycanon"] = of_pycanon(table, quasi, sensitive)
    if len(sensitive) > 1:
        # Whoever knows the other sensitive columns as well.
        found["pycanon_apart"] = of_pycanon(table, quasi, sensitive, gen=False)
    found["columns"] = columns
    found["risk"] = risk(table, quasi)
    sizes = metrics.sizes_ec(table, quasi)
    found["sizes"] = [int(sizes[key]) for key in ["n_ec", "min_ec", "max_ec"]]
    return found


def main():
    make_tables()
    if len(sys.argv) > 1:
        release(sys.argv[1])
    cases = [
        {"table": name, **of_case(read(name, numbers), quasi, sensitive)}
        for name, quasi, sensitive, numbers in CASES
    ]
    text = json.dumps({"pycanon": version("pycanon"), "cases": cases}, indent=1)
    (FOLDER / "expected.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
