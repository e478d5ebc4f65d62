"""Symbols of libraries that are not Lull's own."""

# Symbols that clang adds to a library with line counters (make coverage).
OF_COUNTERS = ("__llvm_", "__start___llvm_", "__stop___llvm_", "lprof")
