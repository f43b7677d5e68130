"""Language models of others as interpreters: from Hugging Face, run here, or behind an interface."""
