"""From points to runs: what they would need, the folder with the job script, the runs here, and how far they have come."""
