"""VariableSynchronization and VariableAggregation members."""

REPLICAS = 2


def case(tf):
    return [
        {m.name: m.value for m in tf.VariableSynchronization},
        {m.name: m.value for m in tf.VariableAggregation},
    ]
