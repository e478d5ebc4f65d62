"""Symbols of libraries that are not Lull's own."""

# What clang adds to a library whose lines are counted (make coverage).
OF_COUNTERS = ("__llvm_", "__start___llvm_", "__stop___llvm_", "lprof")
