"""The benchmark: the cost of set-up, polls and messages, beside other candidates."""
