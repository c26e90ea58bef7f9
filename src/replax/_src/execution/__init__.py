"""Running functions: eagerly once a replica, or compiled into one program."""
