# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe: put the folder packaging/spack into your own repository (docs/how-to/install.md)."""

from spack.package import *


class Lull(PythonPackage):
    """Time and energy of moving data in parallel programs: a meter, an OpenSHMEM runtime, message aggregation, a network
    simulator and an interposer for MPI programs."""

    homepage = "https://example.org/lull"  # of the place where your site keeps the source
    git = "https://example.org/lull.git"

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("trace", default=True, description="Archives in OTF2 of traced programs")
    variant("mpich", default=False, description="The interposer for MPICH, beside that for Open MPI")
    variant("notebook", default=False, description="pandas and a kernel for notebooks")

    depends_on("c", type="build")
    depends_on("cxx", type="build")

    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.11:", type=("build", "link", "run"))
    depends_on("py-scikit-build-core@1.0:", type="build")
    depends_on("py-nanobind@3.0:", type="build")

    depends_on("cli11@2:", type="build")
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("tomlplusplus@3.3:", type="build")
    depends_on("hwloc@2.9:")
    depends_on("pmix@4.2:")
    depends_on("libfabric@1.15:")
    depends_on("ucx@1.13:")
    depends_on("hdf5@1.10:")
    depends_on("zstd@1.5:")
    depends_on("openmpi@4:")
    depends_on("otf2@3:", when="+trace")
    depends_on("mpich@4:", when="+mpich", type="build")

    depends_on("py-click@8.1.7:", type=("build", "run"))
    depends_on("py-jinja2@3.1:", type=("build", "run"))
    depends_on("py-matplotlib@3.9:", type=("build", "run"))
    depends_on("py-numpy@2:", type=("build", "run"))
    depends_on("py-prometheus-client@0.20:", type=("build", "run"))
    depends_on("py-pyarrow@17:", type=("build", "run"))
    depends_on("py-pydantic@2.9:", type=("build", "run"))
    depends_on("py-rich@13.9:", type=("build", "run"))
    depends_on("py-scipy@1.14:", type=("build", "run"))
    depends_on("py-textual@1.0:", type=("build", "run"))
    depends_on("py-pandas@2.2:", type="run", when="+notebook")
    depends_on("py-ipykernel@6.29:", type="run", when="+notebook")

    conflicts("%gcc@:11", msg="C++20 as Lull uses it needs GCC 12 or newer")

    def setup_run_environment(self, env):
        """Lets pkg-config find what programs are compiled with."""
        env.prepend_path("PKG_CONFIG_PATH", self.prefix.lib.pkgconfig)
