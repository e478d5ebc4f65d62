"""Traces of programs: record them during a measurement, convert them to OTF2 archives, and analyse these.

DIR/traces.otf2, traces.def, traces/   the archive, which Vampir and otf2-print read
DIR/run.json, samples.parquet          the record of the traced run
DIR/raw/                               the files of the processes, until they are converted
"""
