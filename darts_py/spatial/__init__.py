"""Fixed-size kernels for rotations, spatial vectors and inertias; no state."""
