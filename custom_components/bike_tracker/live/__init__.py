"""The live connection: what the service says by itself, beside the polls.

Never depended on: polls stay as they are, and are the truth.
"""
