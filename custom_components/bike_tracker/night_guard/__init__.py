"""The night guard: it arms and disarms the guards of bikes, and sends messages about them."""
