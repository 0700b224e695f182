from pliant.io.table import Table, save  # noqa: F401
