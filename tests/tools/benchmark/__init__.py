"""The benchmark: what set-up and polls cost, beside others that do the same."""
