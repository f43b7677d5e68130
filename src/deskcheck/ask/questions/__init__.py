"""What is asked: kinds of questions, their prompts, and which samples are drawn."""
