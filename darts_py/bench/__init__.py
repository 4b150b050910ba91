"""Benchmarks: `darts bench NAME`. They measure and report; they never judge a test run."""
