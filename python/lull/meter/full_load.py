"""Load all CPUs of this process, or some, for a given time: `python -m lull.meter.full_load SECONDS [CPUS]`.

Each CPU alternately multiplies matrices that fit into its cache and sums an array that does not. This is neither the
highest possible power of a processor nor an empty loop. A calibration has the energy of this mixture.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time

MATRIX = 192  # 3 matrices of 192 x 192 doubles fit in most level-2 caches
ARRAY = 4_000_000  # doubles: 32 MB


def load_one_cpu(cpu: int, seconds: float) -> None:
    """Load only `cpu`, for `seconds`."""
    end = time.monotonic() + seconds
    import numpy as np

    os.sched_setaffinity(0, {cpu})
    matrix, array = np.full((MATRIX, MATRIX), 0.5), np.ones(ARRAY)
    product = np.empty_like(matrix)
    while time.monotonic() < end:
        np.matmul(matrix, matrix, out=product)
        array.sum()


def main(seconds: float, cpus: int | None = None) -> None:
    """Load `cpus` CPUs, or all; the workers end with this process."""
    # Forking is safe because there are no threads yet; spawning would first start an interpreter on each CPU.
    context = multiprocessing.get_context("fork")
    workers = [
        context.Process(target=load_one_cpu, args=(cpu, seconds), daemon=True)
        for cpu in sorted(os.sched_getaffinity(0))[:cpus]
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None)
