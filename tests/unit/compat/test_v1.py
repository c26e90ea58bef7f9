"""What ``replax.compat.v1`` has beyond ``v2``, in a process of its own."""

from __future__ import annotations

import textwrap

from fresh_process import EIGHT_DEVICES, run_python

_START = EIGHT_DEVICES + textwrap.dedent(
    """
    import warnings
    import numpy as np
    import pytest
    import replax.compat.v1 as tf

    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

    def local(value):
        return [x.numpy().tolist() for x in strategy.experimental_local_results(value)]
    """
)


def run(program: str) -> None:
    run_python("-c", _START + textwrap.dedent(program))


def test_iterators_begin_again_when_initialized_and_end() -> None:
    run(
        """
        with pytest.warns(DeprecationWarning, match="make_dataset_iterator"):
            it = strategy.make_dataset_iterator(tf.data.Dataset.range(6).batch(4))
        assert local(it.get_next()) == [[0, 1], [2, 3]]
        it.initialize()
        assert local(it.get_next()) == [[0, 1], [2, 3]]
        assert local(next(it)) == [[4], [5]]
        with pytest.raises(tf.errors.OutOfRangeError, match="no more elements"):
            it.get_next()
        it.initialize()
        assert len(list(it)) == 2
        with pytest.raises(StopIteration):
            next(it)
        seen = []
        def input_fn(context):
            seen.append(context.input_pipeline_id)
            return tf.data.Dataset.range(4).batch(1)
        with pytest.warns(DeprecationWarning, match="distribute_datasets_from"):
            it = strategy.make_input_fn_iterator(input_fn)
        assert seen == [0] and it.element_spec is not None
        with pytest.warns(DeprecationWarning, match=r"strategy\\.run"):
            doubled = strategy.experimental_run(lambda x: x * 2, it)
        assert local(doubled) == [[0], [2]]
        with pytest.warns(DeprecationWarning):
            ids = strategy.experimental_run(
                lambda: tf.distribute.get_replica_context().replica_id_in_sync_group
            )
        assert strategy.reduce("SUM", ids) == 1
        mode = tf.distribute.InputReplicationMode.PER_REPLICA
        with pytest.warns(DeprecationWarning), pytest.raises(
            ValueError, match="PER_REPLICA.*PER_WORKER.*use distribute_datasets_from"
        ):
            strategy.make_input_fn_iterator(input_fn, mode)
        """
    )


def test_arrays_sessions_and_configurations() -> None:
    run(
        """
        with pytest.warns(DeprecationWarning, match="from_tensor_slices"):
            data = strategy.experimental_make_numpy_dataset([np.arange(2), np.ones(2)])
        assert [x.numpy().tolist() for x in data] == [[0.0, 1.0], [1.0, 1.0]]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            strategy.experimental_make_numpy_dataset(np.arange(2), session="S")
        said = [str(w.message) for w in caught if w.category is UserWarning]
        assert len(said) == 1 and "session 'S'" in said[0] and "leave it out" in said[0]
        config = tf.ConfigProto(device_filters=["/job:worker"])
        with pytest.warns(DeprecationWarning, match="no sessions to configure"):
            copy = strategy.update_config_proto(config)
        copy.device_filters.append("/job:ps")
        assert config.device_filters == ["/job:worker"]
        with pytest.warns(DeprecationWarning):
            tf.enable_eager_execution(config=config)
        with pytest.raises(tf.errors.UnimplementedError, match="tf.function"):
            tf.disable_eager_execution()
        """
    )


def test_the_same_strategies_and_only_they_have_the_old_methods() -> None:
    run(
        """
        import replax.compat.v2 as tf2
        assert tf2.compat.v1.distribute is tf.distribute
        assert tf2.compat.v2 is tf2 and tf.compat.v1 is tf
        for made in (
            strategy,
            tf.distribute.OneDeviceStrategy("/cpu:0"),
            tf.distribute.experimental.MultiWorkerMirroredStrategy(
                communication=tf.distribute.experimental.CollectiveCommunication.AUTO
            ),
        ):
            assert isinstance(made, tf.distribute.Strategy)
            assert isinstance(made, tf2.distribute.Strategy)
            with made.scope():
                assert tf.distribute.get_strategy() is made
        assert not hasattr(tf2.distribute.MirroredStrategy, "experimental_run")
        assert repr(strategy) == "MirroredStrategy(CPU:0, CPU:1)"
        """
    )


def test_all_names_of_v2_are_there() -> None:
    run(
        """
        from replax.compat import v2

        assert set(v2.__all__) <= set(tf.__all__)
        for name in {*v2.__all__} - {"distribute"}:
            assert getattr(tf, name) is getattr(v2, name), name
        """
    )
