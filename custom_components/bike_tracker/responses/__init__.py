"""What actions and assistants answer about bikes."""
