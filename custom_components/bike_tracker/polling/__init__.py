"""When to ask the service, and when again."""
