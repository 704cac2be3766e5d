"""Nights in which a bike is guarded: what is told of a parked one, and of a stolen one."""
