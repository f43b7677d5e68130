"""The results of asking: rows, tables, statistics, logs."""
