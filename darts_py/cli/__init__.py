"""The `darts` command: one small module per verb, no physics."""
