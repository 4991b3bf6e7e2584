//! A small table that jobs and recodings of the targets are about.

/// Every kind of column, missing cells, values that need quotes, equal rows.
pub(crate) const TABLE: &str = "\
id,age,zip,sex,day,income,disease
1,25,01234,m,2020-01-05,1000.5,flu
2,25,01234,f,2020-02-05,1000.5,flu
3,26,01299,m,2020-01-09,20,HIV
4,27,04321,,2021-07-30,300.25,cold
5,27,04321,f,2021-07-30,,cold
6,31,04399,m,,50000,flu
7,31,,f,2019-12-31,50000,HIV
8,,04399,m,2019-12-31,7,\"a,b\"
9,40,09999,f,2022-03-03,8.75,flu
10,40,09999,m,2022-03-04,-3,cold
11,44,09998,f,2022-03-04,0,HIV
12,90,01234,m,2020-01-05,1000.5,cold
";

/// Rows of the same columns with values that the table does not have.
pub(crate) const OTHER: &str = "\
id,age,zip,sex,day,income,disease
1,24,01234,m,2020-01-05,1000.5,flu
2,25,01234,f,2020-02-05,1000.5,measles
3,91,77777,x,1999-01-09,1e6,HIV
4,27,04321,,2021-07-30,300.25,cold
5,27,04321,f,2021-07-30,,cold
";

/// Columns of another order, one fewer and one more, and no row.
pub(crate) const EMPTY: &str = "zip,age,sex,day,disease,income,more\n";

/// The hierarchies of its columns that are files.
pub(crate) const SEX: &str = "m;*\nf;*\nx;*\n";
pub(crate) const ZIP: &str = "\
01234;01;0;*
01299;01;0;*
04321;04;0;*
04399;04;0;*
09999;09;0;*
09998;09;0;*
77777;77;7;*
";
