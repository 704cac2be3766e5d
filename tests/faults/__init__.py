"""Every way the service can fail, what is decided for it, and the page that says so.

tests/test_faults.py holds what happens against what is decided; `python -m tests.faults` writes docs/faults.md.
"""
