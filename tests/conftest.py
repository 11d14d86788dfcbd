"""What holds for every test."""

import os

from hypothesis import HealthCheck, settings

# A machine that is busy makes no test fail. In continuous integration the examples are the same in every run of a commit;
# at a desk they differ, so that the properties are tried on more.
settings.register_profile(
    "all", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=bool(os.environ.get("CI"))
)
settings.load_profile("all")
