"""Without gravity, the tension for a given pull grows as Young's modulus does, whatever the shape."""

import pliant as pl

tension, young = {}, {}
for name in ("ecoflex 00-50", "dragon skin 30"):
    robot = pl.robots.finger(material=name, gravity=(0, 0, 0))
    tension[name] = pl.static(robot, {"cable": pl.Known(displacement=0.01)}).effort["cable"][0]
    young[name] = pl.materials.library[name].hooke(0.48).young
    print(f"{name}: {1e-3 * young[name]:.0f} kPa, {tension[name]:.3f} N")
soft, firm = tension
assert abs((tension[firm] / tension[soft]) / (young[firm] / young[soft]) - 1) < 1e-4
