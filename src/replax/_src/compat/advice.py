"""What to write for names of TensorFlow that the facades do not have."""

from __future__ import annotations

__all__ = ["advice_for", "advice_for_attribute"]

_SYNCHRONOUS = (
    "Replax has no parameter servers yet, and all of its strategies train "
    "synchronously; use MirroredStrategy, or MultiWorkerMirroredStrategy"
)
_TPUS = (
    "Replax has no such strategy yet; MirroredStrategy takes the TPUs of this host, "
    "MultiWorkerMirroredStrategy those of several"
)

# The longest beginning of a name that is here says what to do.
_ADVICE = {
    "GradientTape": "take gradients with jax.value_and_grad of a function of arrays",
    "Module": "derive from replax.train.Checkpoint, or use flax.nnx",
    "Session": "call functions; compile them with tf.function",
    "autodiff": "use jax.grad, jax.jvp and jax.vjp",
    "contrib": "it is gone in TensorFlow 2 too",
    "data": "look for it among the methods of tf.data.Dataset",
    "disable_eager_execution": "leave it out: there are no graphs to build",
    "disable_v2_behavior": "leave it out: there are no graphs to build",
    "distribute.ParameterServerStrategy": _SYNCHRONOUS,
    "distribute.TPUStrategy": _TPUS,
    "distribute.coordinator": _SYNCHRONOUS,
    "distribute.experimental.CentralStorageStrategy": "use MirroredStrategy",
    "distribute.experimental.ParameterServerStrategy": _SYNCHRONOUS,
    "distribute.experimental.TPUStrategy": _TPUS,
    "distribute.experimental.coordinator": _SYNCHRONOUS,
    "estimator": "write the training loop, or use Keras",
    "feature_column": "use Keras's preprocessing layers",
    "get_variable": "use tf.Variable",
    "global_variables_initializer": "leave it out: variables have values when made",
    "image": "use jax.image, or Keras's preprocessing layers",
    "initializers": "use jax.nn.initializers",
    "io.gfile": "use pathlib",
    "keras": "use Keras 3 on JAX: `import keras`, with KERAS_BACKEND=jax",
    "layers": "use Keras 3 on JAX, or flax.nnx",
    "linalg": "use jax.numpy.linalg",
    "logging": "use Python's logging",
    "losses": "use optax or Keras 3",
    "metrics": "use Keras 3, or replax.Variable with aggregation=SUM",
    "nn": "use jax.nn",
    "optimizers": "use optax, or Keras 3",
    "placeholder": "give the function an argument",
    "profiler": "use jax.profiler",
    "python": "it is private to TensorFlow; use public names",
    "random": "use jax.random, with replica_context.prng_key() in steps",
    "saved_model": "save variables with tf.train.Checkpoint, programs with jax.export",
    "signal": "use jax.numpy.fft or jax.scipy.signal",
    "strings": "work on strings in the functions of Dataset.map, as Python",
    "summary": "write with tensorboardX or torch.utils.tensorboard",
    "test": "use unittest or pytest",
    "tpu": "use jax.devices()",
    "train": "use optax for optimizers, and tf.train.Checkpoint for saving",
    "variable_scope": "name variables by themselves",
    "vectorized_map": "use jax.vmap",
    "xla": "leave it out: everything is compiled by XLA",
}


def advice_for(name: str) -> str:
    """What to write instead of a name, given without ``tf.``."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        found = _ADVICE.get(".".join(parts[:length]))
        if found is not None:
            return found
    return "Replax has no such name; for computing there are jax.numpy and jax.lax"


def advice_for_attribute(module: str, name: str) -> str:
    """What to write instead of a name that a public module does not have."""
    inside = module.removeprefix("replax.")
    for facade in ("compat.v1", "compat.v2"):
        inside = inside.removeprefix(facade)
    return advice_for(f"{inside}.{name}".lstrip("."))
