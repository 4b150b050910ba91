"""Tests against independent simulators; each is skipped, loudly, where its peer is missing."""
