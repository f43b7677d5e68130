"""A program's view of machine, time and random numbers, fixed or varied; and the files that it leaves."""
