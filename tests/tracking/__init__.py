"""Tests of the state of an account, without Home Assistant. The tests only pass values in and check results."""
