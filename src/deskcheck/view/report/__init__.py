"""What models answered, as tables and a page: scores, comparisons, slices, failures, cost."""
