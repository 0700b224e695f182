"""Linear complementarity: contacts that push and never pull (lcp), efforts between bounds (mcp), by an active
set."""
