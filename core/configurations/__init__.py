"""The configuration-DAG interface: conjunctions of features, found and matched.

:class:`~glem.core.configurations.configurations.ConfigurationSet` holds configurations,
:func:`~glem.core.configurations.mining.mine` finds them, and
:class:`~glem.core.configurations.matching.ConfigurationMatcher` tells which are active in a position.
:class:`~glem.core.configurations.dag.ConfigurationDAG` is the concept behind it, as the paper tells it (GLEM, section
4.3): read it, draw it, and check faster code against it.
"""
