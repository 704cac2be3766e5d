"""Tests of Bike Tracker."""
