"""Detection: samples of bodies, the nearest places they may touch, and the rules for pairs."""
