"""What assistants are told of bikes: of those alone that a person exposed to them.

Nothing else depends on what is in here.
"""
