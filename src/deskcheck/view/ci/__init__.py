"""The report of a check of notebooks for the programs that run it: test cases, JUnit XML, GitHub."""
