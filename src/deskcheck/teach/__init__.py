"""Recordings as lessons, models trained on them, and models run as interpreters.

Needs the extra ``[teach]`` only where a model is trained: `layout`, `tokens` and `lessons` do without torch.
"""
