"""What a sample is made of: prompts, the sources they show, places in a run, the frame of a kind."""
