"""Run HPCC with an input for as many ranks as there are, in a folder of its own; each rank is started through this.

Rank 0 reads the input, hpccinf.txt, and writes what was found into hpccoutf.txt; both go with the folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SIZE = 1000  # of the matrix; the other tests take theirs from it

INPUT = """\
HPLinpack benchmark input file
Lull
HPL.out output file name (if any)
8 device out (6=stdout,7=stderr,file)
1 # of problems sizes (N)
{size} Ns
1 # of NBs
80 NBs
0 PMAP process mapping (0=Row-,1=Column-major)
1 # of process grids (P x Q)
1 Ps
{ranks} Qs
16.0 threshold
1 # of panel fact
2 PFACTs (0=left, 1=Crout, 2=Right)
1 # of recursive stopping criterium
4 NBMINs (>= 1)
1 # of panels in recursion
2 NDIVs
1 # of recursive panel fact.
1 RFACTs (0=left, 1=Crout, 2=Right)
1 # of broadcast
1 BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1 # of lookahead depth
1 DEPTHs (>=0)
2 SWAP (0=bin-exch,1=long,2=mix)
64 swapping threshold
0 L1 in (0=transposed,1=no-transposed) form
0 U in (0=transposed,1=no-transposed) form
1 Equilibration (0=no,1=yes)
8 memory alignment in double (> 0)
0 Number of additional problem sizes for PTRANS
{size} values of N
0 number of additional blocking sizes for PTRANS
40 values of NB
"""


def main() -> int:
    """The exit code of HPCC."""
    if shutil.which("hpcc") is None:
        print("hpcc: it is not installed; install the package hpcc", file=sys.stderr)
        return 127
    with tempfile.TemporaryDirectory() as folder:
        ranks = os.environ.get("OMPI_COMM_WORLD_SIZE", "1")
        (Path(folder) / "hpccinf.txt").write_text(INPUT.format(size=SIZE, ranks=ranks))
        return subprocess.run(["hpcc"], cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
