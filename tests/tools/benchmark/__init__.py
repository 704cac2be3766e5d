"""The benchmark: the cost of set-up, polls and messages, compared with other candidates."""
