"""The core under statics, dynamics, inverse model and sensing: a scene, looked at, condensed and solved."""
