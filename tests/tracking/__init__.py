"""Tests of the state of an account: values in, values out, without Home Assistant."""
