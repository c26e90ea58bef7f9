"""What all tests share: eight virtual CPU devices, and bounded, repeatable search."""

import os

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["KERAS_BACKEND"] = "jax"
os.environ.pop("XLA_FLAGS", None)

import hypothesis
import jax

jax.config.update("jax_num_cpu_devices", 8)

# The first example of a shape compiles, and machines may be slow or busy, so the time
# that an example takes says nothing.
hypothesis.settings.register_profile(
    "default",
    deadline=None,
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile(
    "ci", hypothesis.settings.get_profile("default"), derandomize=True
)
hypothesis.settings.load_profile("ci" if "CI" in os.environ else "default")
