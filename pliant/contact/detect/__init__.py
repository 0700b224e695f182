"""Detection: samples of bodies, what they may touch, the nearest places on it, and rules for which pairs are
contacts.
"""
