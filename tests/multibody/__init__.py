"""Tests of the multibody room."""
