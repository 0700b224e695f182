"""Complementarity by an active set: contacts that push and never pull (lcp), efforts between bounds (mcp)."""
