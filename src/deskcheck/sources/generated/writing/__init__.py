"""How a program is written at random: a grammar is drawn from, values stay within bounds."""
