"""Scripts run in a Python process of their own, because the mesher they call may abort it. They import no
pliant.
"""
