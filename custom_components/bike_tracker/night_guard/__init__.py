"""The night guard: it arms the guards of bikes, and sends messages about them."""
