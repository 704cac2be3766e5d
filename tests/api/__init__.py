"""Tests of the client, without Home Assistant."""
