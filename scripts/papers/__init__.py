"""The papers' figures, made again of dry runs and simulated runs: which runs a figure needs, and what it draws of their records."""
