"""Every way the service can fail, what is decided for it, how soon it is over, and the page that says so.

tests/faults/test_faults.py holds what happens against what is decided, test_never_blind.py how soon all is right again;
`python -m tests.tools.faults` measures that and writes docs/faults.md.
"""
