"""What is known of one account, in plain Python: no clock, no network, no Home Assistant."""
