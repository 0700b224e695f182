"""pliant: model, simulate and control soft robots."""
