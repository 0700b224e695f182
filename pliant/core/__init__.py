"""The core that statics, dynamics, the inverse model and sensing stand on: a scene, looked at, condensed, solved.

Scene.look(Situation) → View → condensed(…) → Condensed → solve → Step
"""
