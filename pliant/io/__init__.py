"""Results for people and other programs: pictures, reports, numbers.

from pliant.io.picture import picture      # a PNG of a result
from pliant.io.report import report        # a folder with a page about it
"""
