"""Docs: in the scope get_strategy() is the strategy, outside the default."""

REPLICAS = 2


def case(tf):
    s = tf.distribute.MirroredStrategy()
    D = tf.distribute
    before = D.get_strategy()
    with s.scope():
        inside = D.get_strategy() is s
    after = D.get_strategy()
    return [
        inside,
        before is after,
        before is s,
        before.num_replicas_in_sync,
        isinstance(before, D.Strategy),
        D.has_strategy(),
    ]
