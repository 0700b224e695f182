"""Numbers of the laws in the compiled dispatchers."""

HOOKE = 0
HOOKE_SMALL = 1
SAINT_VENANT = 2
NEO_HOOKEAN = 3
MOONEY_RIVLIN = 4
YEOH = 5
ARRUDA_BOYCE = 6
OGDEN = 7
ANISOTROPIC = 8
