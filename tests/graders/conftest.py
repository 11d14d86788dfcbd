"""Settings of the grader tests."""

from hypothesis import HealthCheck, settings

# How fast a shared machine is today is no property of the code.
settings.register_profile("graders", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("graders")
