"""The worker: runs the units of a batch, each in a process of its own, and keeps a journal of what happened.

Standard library only, from Python 3.9 on. It travels to clusters as one file, a zip that Python runs.
"""
