"""Digests of arrays."""

import numpy as np

from glem.core.files.digests import arrays_digest


def test_a_digest_is_that_of_values_kinds_shapes_and_text() -> None:
    one, other = np.arange(6, dtype=np.int32), np.arange(6, dtype=np.float32)
    digests = {
        arrays_digest([one]),
        arrays_digest([one], "text"),
        arrays_digest([other]),
        arrays_digest([one.reshape(2, 3)]),
        arrays_digest([one, other]),
        arrays_digest([other, one]),
        arrays_digest([one + 1]),
        arrays_digest([]),
    }
    assert len(digests) == 8
    # How an array lies in memory does not matter.
    assert arrays_digest([np.arange(12, dtype=np.int32)[::2] // 2]) == arrays_digest([one])


def test_digests_are_those_that_unfinished_work_was_marked_with() -> None:
    assert arrays_digest([np.arange(3, dtype=np.uint64)]) == "78ff6143bfb246b64c8f3ceb540e2c2b"
