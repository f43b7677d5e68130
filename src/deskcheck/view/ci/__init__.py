"""The report of a check of notebooks in formats for CI systems: test cases, JUnit XML, GitHub."""
