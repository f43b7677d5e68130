"""The parts of a sample: prompts, the sources they show, places in a run, the frame of a kind."""
