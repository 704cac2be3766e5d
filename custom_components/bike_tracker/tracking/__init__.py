"""What is known of one account: values in, values out.

No clock, no network and nothing of Home Assistant is needed in here, and nobody asks
where events came from.
"""
