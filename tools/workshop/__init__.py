"""The project's own chores: environments, locks, the demo and the test stages.

Standard library only, for it runs before anything is installed.
"""
