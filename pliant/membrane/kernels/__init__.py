"""The compiled mechanics of planar bodies and cables; the rest of `pliant.membrane` calls it with arrays.

vectors       small vectors and matrices in loops
shape         a convex shape at a pose: corners, support, edges, how deep a point lies in it
path          the taut path past any number of shapes: contacts, length, derivatives of the length
skin          one skin over one shape, without memory: the same path, for statics and measurements
band          a skin with friction: stretched piece by piece, slipping where the tensions differ too much
tree          poses, Jacobians and inertia of bodies on joints
forces        all forces on a mechanism, with their tangents
step          the stages of one time step
run           the loop over many steps
equilibrium   an object at rest between skins
"""
