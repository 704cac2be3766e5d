"""The simulator as a program, with a fleet that rides and tricks to try."""

EMAIL = "demo@example.com"
PASSWORD = "demo"
