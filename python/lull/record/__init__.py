"""The record of a run: the folder that all parts of Lull write and read.

    DIR/run.json         schema-versioned: what was run, where, its repeats, every energy figure with kind and source
    DIR/samples.parquet  energy over time: repeat, time_s, node, channel, domain, kind, joules (cumulative in a repeat)

`lull.record.read(Path("DIR"))` returns a `Run`, `read_samples` its table; `write` makes a record that is whole or
absent.
"""

from lull.base.energy_kind import EnergyKind, weakest
from lull.record.files import read, read_samples, write
from lull.record.host import this_host
from lull.record.schema import (
    RUN_FILE,
    SAMPLES_FILE,
    SAMPLES_SCHEMA,
    SCHEMA,
    Alternative,
    Channel,
    Choice,
    Combination,
    Domain,
    Energy,
    Host,
    IdlePower,
    Metric,
    Model,
    Output,
    OutputAmount,
    OutputClients,
    OutputServers,
    Rank,
    Region,
    RegionShare,
    Repeat,
    RewrittenPuts,
    Run,
    Waiting,
    WaitingRow,
    is_simulated,
    succeeded,
)

__all__ = [
    "RUN_FILE",
    "SAMPLES_FILE",
    "SAMPLES_SCHEMA",
    "SCHEMA",
    "Alternative",
    "Channel",
    "Choice",
    "Combination",
    "Domain",
    "Energy",
    "EnergyKind",
    "Host",
    "IdlePower",
    "Metric",
    "Model",
    "Output",
    "OutputAmount",
    "OutputClients",
    "OutputServers",
    "Rank",
    "Region",
    "RegionShare",
    "Repeat",
    "RewrittenPuts",
    "Run",
    "Waiting",
    "WaitingRow",
    "is_simulated",
    "read",
    "read_samples",
    "succeeded",
    "this_host",
    "weakest",
    "write",
]
