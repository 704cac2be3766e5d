"""What people, actions and assistants are told of bikes, and in which words."""
