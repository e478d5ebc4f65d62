"""Traces of programs: recording them beside a measurement, archives in OTF2, and what these say.

DIR/traces.otf2, traces.def, traces/   the archive, which Vampir and otf2-print read
DIR/run.json, samples.parquet          the record of the run that was traced
DIR/raw/                               what processes wrote, until it is converted
"""
