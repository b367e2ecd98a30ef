"""A plan for people and tools: its model, the states that operators declare, and texts, pictures and drawings.

Not here: decisions about plans, which are the planner's, and anything that runs.
"""
