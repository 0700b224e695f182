"""The studio: a robot in the browser. Drag its target, pull its cables, put things in its way.

from pliant.studio import view
window = view("trunk")        # or a robot of your own
window.wait()
"""

from pliant.studio.view import Window, view

__all__ = ["Window", "view"]
