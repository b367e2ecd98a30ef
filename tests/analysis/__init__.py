"""The model of a plan, what operators declare, and plans as texts."""
