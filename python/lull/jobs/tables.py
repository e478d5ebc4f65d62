"""The tables of the store, in SQL. Texts that repeat are in `names`; flags are bits in the order of `FLAGS`; kinds are
numbers in the order of `EnergyKind`, -1 where no meter counted. Sums and jobs are in whole millijoules, so that an
integer of 64 bits holds those of the largest machine for a year.

`energy`, `nodes`: what nodes have sent, never changed. `jobs`: their sums by run of a job, which has a number. `days`
and `months` (UTC, by when a job began): sums of `jobs`, from which questions about long spans are answered. Their keys
begin with what is summed over, so that no query has to sort them.
"""

from __future__ import annotations

from typing import Final

VERSION: Final = 2  # of the tables, as SQLite's user_version

TABLES: Final = """
create table names (id integer primary key, name text not null unique);
create table jobs (
  run integer primary key, job text not null, cluster integer not null, restart integer not null,
  uid integer not null, project integer not null, begin_us integer not null, end_us integer not null,
  nodes integer not null, rows integer not null, cpu_us integer not null,
  mj integer not null, low_mj integer not null, high_mj integer not null,
  kind integer not null, flags integer not null);
create unique index jobs_by_name on jobs (job, cluster, restart);
create index jobs_by_user on jobs (uid, begin_us);
create index jobs_by_project on jobs (project, begin_us);
create index jobs_by_time on jobs (begin_us);
create table nodes (
  run integer not null, node integer not null,
  begin_us integer not null, end_us integer not null, cpus integer not null, memory_mib integer not null,
  cpu_us integer not null, flags integer not null,
  primary key (run, node)) without rowid;
create table energy (
  run integer not null, node integer not null, domain integer not null, kind integer not null,
  active_uj integer not null, held_uj integer not null, overhead_uj integer not null,
  low_uj integer not null, high_uj integer not null,
  primary key (run, node, domain)) without rowid;
create table days (
  day integer not null, kind integer not null, uid integer not null, project integer not null,
  jobs integer not null, cpu_us integer not null,
  mj integer not null, low_mj integer not null, high_mj integer not null,
  primary key (day, kind, uid, project)) without rowid;
create table months (
  month integer not null, kind integer not null, uid integer not null, project integer not null,
  jobs integer not null, cpu_us integer not null,
  mj integer not null, low_mj integer not null, high_mj integer not null,
  primary key (uid, kind, project, month)) without rowid;
create index months_by_project on months (project, kind, uid, month, jobs, cpu_us, mj, low_mj, high_mj);
"""
# Files with what `nodes` and `energy` had of old jobs (archive.py): the first and last run in them, and whether all of
# it has been removed from these tables.
ARCHIVES: Final = """
create table if not exists archives (
  name text primary key, first_run integer not null, last_run integer not null, removed integer not null)
"""

JOB_COLUMNS: Final = (
    "run, job, cluster, restart, uid, project, begin_us, end_us, nodes, rows, cpu_us, mj, low_mj, high_mj, kind, flags"
)
