"""The level `alone` with its working: a model is given a program and one state, nothing that was looked up.
Its answer works the line out, one operation at a time, before it tells the next state."""
