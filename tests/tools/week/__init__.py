"""Weeks of riding bikes: what they leave in Activity and in the database."""
