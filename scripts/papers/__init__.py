"""The papers' figures, made again of dry runs and simulated runs: which runs a figure needs, and the lines that it draws."""
