"""What came of asking: rows, tables, statistics, logs."""
