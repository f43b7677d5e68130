"""What of a cell is the same in each run, whatever was drawn: proved from its source, or not."""
