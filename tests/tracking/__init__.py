"""Tests of the state of an account, without Home Assistant: values go in, values come out."""
