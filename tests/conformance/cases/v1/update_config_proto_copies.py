"""update_config_proto returns a copy and leaves its argument alone."""

REPLICAS = 2
API = "v1"


def case(tf):
    s = tf.distribute.MirroredStrategy()
    c = tf.ConfigProto(allow_soft_placement=True)
    r = s.update_config_proto(c)
    return [r is c, r.allow_soft_placement, c.allow_soft_placement]
