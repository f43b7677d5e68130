"""The values of a kernel's variables: captured inside the kernel, as data, and as bounded text."""
