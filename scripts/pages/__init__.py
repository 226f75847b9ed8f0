"""The pages of results/: records that Keel makes, and what a README and its figures show of them."""
