"""Methods that ask a model several times and run what it wrote: within a budget, every attempt kept.

A package for deskcheck, which finds it by the entry points that lead to `entry_points`.
"""
