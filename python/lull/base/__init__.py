"""What every room uses: errors of one line, signals, a guarded command, whole files, the native part."""
