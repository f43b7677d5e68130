"""The results of models as tables and a page: scores, comparisons, slices, failures, cost."""
