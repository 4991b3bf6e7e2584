"""Makes pandas.parquet and pandas.arrow, which the tests read, with pandas 3 and pyarrow 26."""

import pandas as pd

levels = ["Kindergarten", "Primary", "Secondary", "Bachelors", "Doctorate"]
people = pd.DataFrame(
    {
        "age": [20 + row % 10 for row in range(48)],
        "education": pd.Categorical(
            [levels[1:][row * 7 % 4] for row in range(48)], categories=levels, ordered=True
        ),
        "disease": [f"d{row % 3}" for row in range(48)],
    }
)
# Leaving rows out gives the rest an index that pandas writes as a column.
people = people[people.age > 21]
people.to_parquet("pandas.parquet", row_group_size=10)
people.reset_index(drop=True).to_feather("pandas.arrow", compression="uncompressed")
