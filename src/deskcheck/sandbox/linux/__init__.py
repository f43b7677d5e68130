"""Confinement and accounting by the Linux kernel: system calls, filters, groups, limits."""
