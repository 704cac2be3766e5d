"""Tests of the simulator, over real sockets."""
