"""A plan as a text, one module per kind of text. All take a :class:`~penstock.analysis.model.ProgramModel`, but for
Flink's own, which are the planner's. Names come from strangers: each format writes them so that they are text and
nothing else.
"""
