"""What the Linux kernel gives to confine and to count: system calls, filters, groups, limits."""
