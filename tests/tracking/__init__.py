"""Tests of what is known of an account: values in, values out, without Home Assistant."""
