"""What the paper reports: its tables I to V."""

from __future__ import annotations

SOURCE = (
    "Z. Zhang, J. Dequidt, C. Duriez, Vision-Based Sensing of External Forces Acting on Soft Robots Using Finite Element Method, "
    "IEEE Robotics and Automation Letters 3 (3), 2018."
)
I_E = {  # table I [mN]
    "s1": 0.3, "s2": 1.1, "s3": 4.6, "s4": 33.0, "s5": 2.8, "s6": 1.3, "s7": 1.4, "s8": 130.3,
    "r1": 3.2, "r2": 3.2, "r3": 8.7, "r4": 60.2, "r5": 9.0, "r6": 25.2, "r7": 8.8, "r8": 79.9,
}  # fmt: skip
I_W = {  # table I, printed as mm/N; the unit is N/mm
    "s1": 0.5, "s2": 1.4, "s3": 3.3, "s4": 20.4, "s5": 1.3, "s6": 1.6, "s7": 1.5, "s8": 1991.0,
    "r1": 0.2, "r2": 0.8, "r3": 8.1, "r4": 168.9, "r5": 28.5, "r6": 12.1, "r7": 4.9, "r8": 52.0,
}  # fmt: skip
YOUNG, MODULI = 300e3, (280e3, 260e3, 240e3)  # [Pa]
OFFSETS = (0.05e-3, 0.10e-3, 0.15e-3)  # of all markers along z [m]
TENSION, TENSIONS = 2.0, (0.1, 0.15, 0.2)  # of every cable, and by how much it is wrong [N]

SHEET = ("s2", "s3", "s4", "s5", "s6", "s7")
ROBOT = ("r2", "r3", "r4", "r5", "r6", "r7")
TABLE_II = {  # I_e [mN] by case and size of the error, layouts s2 to s7
    "modulus": (
        (109.8, 197.9, 278.3, 137.7, 118.4, 114.0),
        (216.3, 395.4, 551.1, 273.5, 234.7, 224.9),
        (319.4, 590.2, 807.9, 404.4, 347.8, 332.4),
    ),
    "offset": (
        (132.6, 145.4, 307.7, 57.7, 131.2, 131.1),
        (265.1, 290.1, 612.0, 113.4, 262.5, 262.2),
        (397.5, 434.8, 918.2, 169.1, 393.9, 393.2),
    ),
}
TABLE_III = {  # layouts r2 to r7
    "modulus": (
        (62.1, 337.7, 592.1, 118.0, 239.8, 100.5),
        (125.2, 704.1, 1230.0, 221.1, 475.8, 202.9),
        (187.3, 1094.3, 1951.2, 320.7, 795.2, 315.4),
    ),
    "offset": (
        (47.7, 300.2, 950.6, 125.9, 349.1, 158.3),
        (94.6, 601.0, 2088.0, 245.7, 712.0, 314.5),
        (142.1, 900.5, 3379.2, 368.8, 1081.1, 474.0),
    ),
    "tension": (
        (23.8, 452.9, 663.6, 196.7, 330.2, 74.8),
        (34.5, 656.9, 938.6, 298.2, 448.8, 104.6),
        (46.1, 877.1, 1267.0, 396.2, 613.6, 138.1),
    ),
}
WEIGHTS = ((559, 559), (559, 459), (559, 359), (459, 459), (459, 359), (359, 359))  # table IV [mN]
SHEET_ERRORS = (0.04, 0.03, 0.03, 0.03, 0.02, 0.03)
