"""Questions for other programs that ask models, and the answers in their files."""
