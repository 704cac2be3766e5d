"""What the service can do wrong, and what nobody else may learn."""
