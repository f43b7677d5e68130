"""The list of kinds of question, benchmarks, and the samples that are drawn."""
