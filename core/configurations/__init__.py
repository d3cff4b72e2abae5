"""The configuration-DAG interface: conjunctions of features, found and matched."""
