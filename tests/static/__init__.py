"""What hassfest and HACS would reject, and what else only files can tell."""
