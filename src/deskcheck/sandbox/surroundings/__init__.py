"""What a program finds of the machine, the day and chance: fixed, or different. In its own process."""
