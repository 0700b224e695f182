"""Distances to triangles: closest points, trees of boxes, neighbours, and ways along a surface."""
