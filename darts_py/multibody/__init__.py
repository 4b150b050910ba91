"""Dynamics of trees of rigid and flexible bodies: descriptions, kernel arrays, algorithms."""
