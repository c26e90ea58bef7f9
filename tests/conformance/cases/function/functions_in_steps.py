"""Functions called in steps, with variables of the strategy and of their own."""

from conformance.kit import local, pull

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    with s.scope():
        w = tf.Variable(2.0)
        m = tf.Variable(
            0.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.MEAN,
        )

    @tf.function
    def layer(x, training=False):
        if training:
            m.assign_add(tf.reduce_sum(x))
        return x * w

    @tf.function
    def model(x, training):
        return layer(layer(x), training=training)

    x = s.experimental_distribute_values_from_function(
        lambda ctx: tf.constant([float(ctx.replica_id_in_sync_group), 1.0])
    )
    step = tf.function(lambda x, t: s.run(model, args=(x, t)))
    return [
        local(s, step(x, True)),
        local(s, step(x, False)),
        local(s, s.run(model, args=(x, True))),
        pull(m),
        pull(model(tf.constant([1.0]), False)),
    ]
