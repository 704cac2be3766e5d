"""Tests of what is known of an account, without Home Assistant."""
