"""Damage of files: to their bytes, and to the values of JSON, arrays, tables and fields of text."""

import hashlib
import io
import json
import math
import random
import re
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

Mutation = Callable[[bytes, random.Random], bytes]

RAW = ("1e400", "-1e400", "NaN", "9" * 5000, "[" * 20_000 + "]" * 20_000, "1.5", "-99999", str(1 << 63), "true")
VALUES = (None, "", "x", 0, -1, 1 << 40, [], [[]], [1, 2, 3], {}, {"a": None}, "\x00\x1b[2J", "é" * 300)
FIELDS = (
    *(b"9" * 5000, b"-99999", b"1e400", b"nan", b"inf", b"", b"1_0", b"\x00", b"=1+1", b"-5", b"32768", b"4294967296"),
    *(b"x" * 70_000, "٣".encode(), b"\xff\xfe", b"\t\t", b'"', b"'", b"64", b"0.5", b"{", b"(", b"[a]", b"1-0", b"\r"),
)


def bytes_changed(content: bytes, chance: random.Random) -> bytes:
    """Flip, overwrite, delete, insert, cut off or double some of a file."""
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        at = chance.randrange(len(changed) + 1)
        size = chance.choice((1, 1, 2, 4, 16, 200))
        kind = chance.randrange(7)
        if kind == 0 and at < len(changed):
            changed[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            changed[at : at + size] = chance.randbytes(min(size, len(changed) - at))
        elif kind == 2:
            del changed[at : at + size]
        elif kind == 3:
            changed[at:at] = chance.choice((chance.randbytes(size), b"\x00" * size, b"\xff" * size, b"\n", b"9" * size))
        elif kind == 4 and chance.random() < 0.3:
            del changed[at:]
        elif kind == 5:
            changed[at:at] = changed[at : at + size]
        elif kind == 6:
            changed[at : at + size] = b"\xff" * min(size, len(changed) - at)
    return bytes(changed)


def fields_changed(content: bytes, chance: random.Random) -> bytes:
    """Put other words into a text, or shift its lines."""
    words = re.split(rb"([\s,;:/\[\]\"]+)", content)
    for _ in range(chance.choice((1, 1, 2))):
        place = chance.randrange(len(words))
        words[place] = chance.choice((*FIELDS, chance.choice(words), words[place] * 2))
    if chance.random() < 0.2:
        lines = b"".join(words).splitlines(keepends=True)
        chance.shuffle(lines)
        return b"".join(lines)
    return b"".join(words)


def json_changed(text: bytes, chance: random.Random) -> bytes:
    """Replace or remove a value somewhere in a JSON text."""
    found = {"": json.loads(text)}
    places: list[tuple[Any, Any]] = []
    pending: list[Any] = [found]
    while pending:
        inner = pending.pop()
        for key in list(inner) if isinstance(inner, dict) else range(len(inner)):
            places.append((inner, key))
            if isinstance(inner[key], dict | list):
                pending.append(inner[key])
    inner, key = chance.choice(places)
    kind = chance.randrange(6)
    if kind == 0 and isinstance(inner, dict) and key:
        del inner[key]
    elif kind <= 2:
        inner[key] = "@RAW@"
    elif kind == 3:
        inner[key] = [inner[key]]
    else:
        inner[key] = chance.choice(VALUES)
    return json.dumps(found[""]).replace('"@RAW@"', chance.choice(RAW)).encode()


def json_lines_changed(content: bytes, chance: random.Random) -> bytes:
    """Change one of the JSON values that stand on lines; the header is given the digest that fits it."""
    lines = content.splitlines()
    place = chance.randrange(len(lines))
    lines[place] = json_changed(lines[place], chance)
    if place == 0:
        try:
            header = json.loads(lines[0])
            settings = json.dumps(header["settings"], sort_keys=True).encode()
            lines[0] = json.dumps({**header, "sha256": hashlib.sha256(settings).hexdigest()}).encode()
        except (ValueError, TypeError, KeyError, RecursionError):
            pass
    return b"\n".join(lines) + b"\n"


def archive_of(arrays: dict[str, Any]) -> bytes:
    """Bytes of an ``.npz`` file; a value that is bytes already stands for itself."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            if isinstance(array, bytes):
                buffer.write(array)
            else:
                np.lib.format.write_array(buffer, array, allow_pickle=True)
            archive.writestr(f"{name}.npy", buffer.getvalue())
    return file.getvalue()


def announced(shape: str, kind: str = "<f4") -> bytes:
    """An array whose header announces a shape, with few values behind it."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (63 - (len(header) + 10) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64)


def _other_array(array: Any, chance: random.Random) -> Any:
    kinds = (np.int8, np.int64, np.uint64, np.float16, np.float32, np.float64, np.complex128, np.bool_, ">i4", "S3")
    flat = array.ravel()
    with np.errstate(all="ignore"):
        return chance.choice(
            (
                lambda: flat.astype(np.float64).astype(chance.choice(kinds)).reshape(array.shape),
                lambda: array[:-1] if array.ndim else array.reshape(1),
                lambda: np.concatenate([flat, flat]),
                lambda: flat.reshape(1, -1),
                lambda: array.T,
                lambda: np.full(array.shape, np.nan) if array.dtype.kind == "f" else np.zeros_like(array),
                lambda: np.full_like(array, np.inf if array.dtype.kind == "f" else np.iinfo(array.dtype).max),
                lambda: np.full_like(array, -np.inf if array.dtype.kind == "f" else np.iinfo(array.dtype).min),
                lambda: flat[::-1].reshape(array.shape).copy(),
                lambda: np.array(chance.choice((0, -1, math.nan, 1 << 40))),
                lambda: np.array([{"a": 1}, None], object),
                lambda: np.zeros(0, array.dtype),
                lambda: np.zeros((0, 1 << 40), array.dtype),
                lambda: announced("(1000000000000,)"),
                lambda: announced("(3000000000,)", array.dtype.str),
                lambda: announced("(99999999999999999999999,)"),
                lambda: announced("(4611686018427387904, 4)"),
                lambda: announced("(1000000000000,)", "|V0"),
                lambda: announced("(1000000000000,)", "<U0"),
                lambda: announced("(-1,)"),
                lambda: announced("(" * 3000 + ")" * 3000),
                lambda: b"no array",
            )
        )()


def arrays_changed(content: bytes, chance: random.Random) -> bytes:
    """Change an array or the header of an archive; half of the time with the checksum that fits."""
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        arrays: dict[str, Any] = {name: stored[name] for name in stored.files}
    name = chance.choice(list(arrays))
    kind = chance.randrange(10)
    if kind == 0:
        del arrays[name]
    elif kind == 1:
        arrays["more"] = np.zeros(3)
    elif "header" in arrays and (name == "header" or kind < 5):
        arrays["header"] = np.frombuffer(json_changed(arrays["header"].tobytes(), chance), np.uint8)
    elif arrays[name].dtype.kind in "biuf":
        arrays[name] = _other_array(arrays[name], chance)
    else:
        arrays[name] = np.array(chance.choice(("", "x" * 1000)))
    plain = {key: array for key, array in arrays.items() if key != "header"}
    if chance.random() < 0.7 and not any(isinstance(array, bytes) or array.dtype.hasobject for array in plain.values()):
        digest = hashlib.sha256()
        for key in sorted(plain):
            digest.update(f"{key} {plain[key].dtype.str} {plain[key].shape};".encode())
            digest.update(np.ascontiguousarray(plain[key]).tobytes())
        try:
            header = json.loads(arrays["header"].tobytes())
            fitting = json.dumps({**header, "sha256": digest.hexdigest()}).encode()
            arrays["header"] = np.frombuffer(fitting, np.uint8)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            pass
    return archive_of(arrays)


def _other_column(column: Any, chance: random.Random) -> Any:
    values = column.to_pylist()
    kind = chance.randrange(6)
    if kind == 0:
        return pa.array([None, *values[1:]], column.type)
    if kind == 1:
        return pa.array([str(value) for value in values])
    if kind == 2:
        return pa.array([[value] for value in values])
    if pa.types.is_string(column.type):
        return pa.array([chance.choice(FIELDS).decode("latin-1"), *values[1:]])
    if kind == 3:
        return pa.array([float(value) for value in values], chance.choice((pa.float32(), pa.float64())))
    extreme: Any = chance.choice((math.nan, math.inf, -math.inf, 1e38))
    if pa.types.is_integer(column.type):
        bits, unsigned = column.type.bit_width, str(column.type).startswith("u")
        extreme = chance.choice((0, (1 << bits - (not unsigned)) - 1, 0 if unsigned else -(1 << bits - 1), 1))
    return pa.array([extreme, *values[1:]], column.type)


def table_changed(content: bytes, chance: random.Random) -> bytes:
    """Change a column or the header of a Parquet file."""
    table = pq.read_table(pa.BufferReader(content))
    place = chance.randrange(table.num_columns)
    name = table.column_names[place]
    kind = chance.randrange(8)
    if kind == 0:
        table = table.drop_columns([name])
    elif kind == 1:
        table = table.append_column(chance.choice(("more", name)), table.column(place))
    elif kind == 2:
        table = table.slice(0, chance.randrange(3))
    elif kind <= 4:
        key, text = chance.choice(list((table.schema.metadata or {b"": b""}).items()))
        if text.startswith(b"{"):
            text = json_changed(text, chance)
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), key: text})
    else:
        table = table.set_column(place, name, _other_column(table.column(place), chance))
    sink = io.BytesIO()
    pq.write_table(table, sink, compression=chance.choice(("none", "zstd", "gzip", "snappy")))
    return sink.getvalue()
