"""Every reader of files, with a good file for it and a naive reading to compare with."""

import gzip
import json
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
from attrs import define

from glem.core.configurations.configurations import ConfigurationSet, RelationTable
from glem.core.configurations.mining.generation import _PART
from glem.core.evaluation.links import IDENTITY
from glem.core.evaluation.result_models import Calibration, ResultModels, WdlModel
from glem.core.evaluation.with_drawishness import ResultEvaluation
from glem.core.features.learning import load_learning
from glem.core.files.archives import ArchiveFormat
from glem.core.files.json_values import instance_of
from glem.core.files.packed import open_packed
from glem.core.fitting.minimizing.minimizer import FileCheckpoint, FitResult
from glem.core.fitting.phases import PhaseWeights
from glem.core.game.game import load_game
from glem.core.grading.changes import read_candidates
from glem.core.grading.learning import Verdict
from glem.core.labelling import training
from glem.core.labelling.plan import TrainingSettings
from glem.core.labelling.training import Generation
from glem.core.patterns.pattern_file import read_pattern_file
from glem.core.positions.files import write_positions
from glem.core.positions.reading import read_scored_positions
from glem.core.positions.writing import write_games
from glem.core.search.probcut import CHECKS, ProbCut
from glem.core.tasks.chunked_work import claim_folder
from glem.core.tasks.journal import Journal, read_journal
from glem.core.tasks.progress import SILENT
from glem.core.tournament.elo import EloEstimate
from glem.core.tournament.tournament import read_games, run_tournament
from glem.core.tuning.coefficients import blocks_of_table
from glem.core.tuning.engine_options import read_lines
from glem.core.tuning.option_tuning import _read
from glem.core.tuning.terms import Terms
from tests.core.evaluation.linear_evaluations import mobility_evaluation
from tests.core.files import mutations
from tests.core.files import naive_readings as readings
from tests.core.files.mutations import Mutation
from tests.core.grading.random_games import random_records
from tests.core.tournament.tournament_examples import QUICK, quick_tournament
from tests.oracles import wthor

PGN = b"""[Event "A"]\n[White "=B"]\n[Black "[red]C"]\n[Result "1-0"]\n
1. e4 {[%eval 0.3]} e5 2. Qh5 (2. Nf3 Nc6) Nc6 3. Bc4 Nf6?? $4 4. Qxf7# 1-0\n
[Event "D"]\n[FEN "4k3/P7/8/8/8/8/8/4K3 w - - 0 1"]\n[SetUp "1"]\n[Result "1/2-1/2"]\n
1. a8=Q+ Kd7 2. Qb7+ ; a comment\nKe6 3. O-O 1/2-1/2\n
[Event "E"]\n[Result "*"]\n\n1. d4 d5 2. c4 e6 {x} 3. Nc3 *\n""".replace(b" 3. O-O", b"")
FENS = b"""# openings\nrnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1
rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2
r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 0 3\n4k3/P7/8/8/8/8/8/4K3 w - - 0 1\n"""
OBF = b"""---------------------------OX------XO--------------------------- X; D3:+4; C4:-2;
---------------------------OX------XO--------------------------- O; E3:+0;\n"""
POSITIONS = b"""--XXXXX--OOOXX-O-OOOXXOX-OXOXXOXOXXXOXOXOXXXXOXO-XXOOOXX-OOOOXX- O 18
---------------------------OX------XO--------------------------- X -3\n"""


@define(frozen=True)
class Reader:
    """A reader, a good file, how it is damaged, and whether what was read of a file's content is right.

    None stands for a file that only the naive reader finds wrong, and where there is no naive reader.
    """

    name: str
    suffix: str
    content: bytes
    read: Callable[[Path], Any]
    change: Mutation
    right: Callable[[bytes, Any], bool | None]


def readers(folder: Path) -> Iterator[Reader]:
    """All readers, one after the other; good files are written into a folder."""
    yield from _text_readers(folder)
    yield from _learned_readers(folder)
    yield from _work_readers(folder)
    yield from _settings_readers(folder)
    yield from _table_readers(folder)


def _unchecked(_content: bytes, _found: Any) -> None:
    """Ask for no more than an error that names the file."""


def _archive(name: str, path: Path, read: Callable[[Path], Any]) -> Reader:
    """A reader of arrays, whose good file has been written."""
    return Reader(name, ".npz", path.read_bytes(), read, mutations.arrays_changed, readings.right_arrays)


def _text_readers(folder: Path) -> Iterator[Reader]:
    othello, chess_game = load_game("othello"), load_game("chess")
    texts, of_bytes = mutations.fields_changed, mutations.bytes_changed
    records = random_records(othello, 3)
    lines = [records.moves_of(number).tolist() for number in range(len(records))]
    discs = [int(score + 64) // 2 for score in records.score]
    files = wthor.games_file([wthor.game_record(moves, count) for moves, count in zip(lines, discs, strict=True)])
    read = readings.read_game_records(othello)
    yield Reader("WTHOR", ".wtb", files, read, of_bytes, readings.right_wthor)
    names = [" ".join(othello.format_move(move) for move in moves) for moves in lines]
    transcripts = "".join(f"{name} {score:g}\n" for name, score in zip(names, records.score, strict=True)).encode()
    yield Reader("transcripts", ".txt", transcripts, read, texts, readings.right_transcripts)
    yield Reader("opening moves", ".txt", b"f5 d6 c3\nf5 f6\n", readings.read_moves, texts, readings.right_moves)
    book = b"+f5-d6+c3-d3+c4:\n+f5-f6+e6-f4: +04 10\n".replace(b" +04 10", b"")
    yield Reader("logbook", ".gam", book, read, texts, readings.right_lines(readings.BOOK))
    table = "name,game_moves,winner\n=x,f5d6c3,\n" + "".join(
        f"@y,{name.replace(' ', '')},{score:g}\n" for name, score in zip(names, records.score, strict=True)
    )
    yield Reader("games in CSV", ".csv", table.encode(), read, texts, readings.right_table)
    write_games(othello, folder / "good.games", records)
    games = (folder / "good.games").read_bytes()
    yield Reader("games", ".games", games, read, texts, readings.right_games)
    yield Reader("PGN", ".pgn", PGN, readings.read_game_records(chess_game), texts, readings.right_pgn)
    yield Reader("FEN list", ".epd", FENS, readings.read_starts, texts, readings.right_starts)
    yield Reader("OBF", ".obf", OBF, readings.read_scored, texts, readings.right_obf)
    yield Reader("scored positions", ".txt", POSITIONS, readings.read_scored, texts, readings.right_positions)
    scores = b"file,game,ply,score\n=a,1,0,0.5\n-b,1,1,-3\n,2,7,\n"
    yield Reader("score file", ".csv", scores, readings.read_scores, texts, readings.right_scores)
    with open_packed(folder / "good.zst") as file:
        file.write(games)
    for name, suffix, packed, unpack in (
        ("gzip", ".gz", gzip.compress(games, mtime=0), gzip.decompress),
        ("xz", ".xz", lzma.compress(games), lzma.decompress),
        ("Zstandard", ".zst", (folder / "good.zst").read_bytes(), readings.unpacked_by_zstandard),
    ):
        yield Reader(name, suffix, packed, readings.read_packed, of_bytes, readings.right_unpacked(unpack))

    def right_packed_scores(content: bytes, found: Any) -> bool:
        return readings.right_scores(gzip.decompress(content), found)

    packed = gzip.compress(scores, mtime=0)
    yield Reader("scores in .csv.gz", ".csv.gz", packed, readings.read_scores, of_bytes, right_packed_scores)


def _learned_readers(folder: Path) -> Iterator[Reader]:
    learning = load_learning("othello")
    path = folder / "good.parquet"
    assert learning.sample is not None
    write_positions(path, learning.sample().select(slice(0, 40)))
    table_changed, right_columns = mutations.table_changed, readings.right_columns
    yield Reader("positions", ".parquet", path.read_bytes(), readings.read_columns, table_changed, right_columns)
    path = folder / "good.npz"
    value = mobility_evaluation(learning, logistic=True)
    value.save(path)
    yield _archive("evaluation", path, readings.read_evaluation)
    ResultEvaluation(value, value, scale=1.5, provenance={"made": "by hand"}).save(path)
    yield _archive("result evaluation", path, readings.read_evaluation)
    relations = [(feature, 0) for feature in range(6)] + [(6, 1), (6, 2)]
    table = RelationTable(*np.array(relations).T)
    ConfigurationSet.from_relations(table, [[0, 1], [1, 2, 3], [7]], [3, 2, 1], 10).save(path)
    yield _archive("configurations", path, _read_configurations)
    shape = (3, 4, CHECKS)
    depths = np.tile(np.array([[-1], [-1], [0], [1]]), (1, CHECKS))
    numbers = (np.ones(shape), np.zeros(shape), np.ones(shape), np.ones(shape, int))
    ProbCut("othello", ("a", "b", "c"), "discs", depths, *numbers).save(path)
    yield _archive("probcut", path, _read_probcut)
    changes = b"# changes\nscale mobility 1.2\ndrop corners in phase 3\ntwo: scale a 2; drop b\n"
    yield Reader(
        "changes",
        ".txt",
        changes,
        read_candidates,
        mutations.fields_changed,
        lambda content, found: (
            [change.text for change in found]
            == [text for line in content.decode().splitlines() if (text := line.partition("#")[0].strip())]
        ),
    )
    yield Reader(
        "weights of terms",
        ".json",
        b'{"tempo": [12, 0.5], "pawn": [[100, -3], [7, 1e3]]}',
        lambda path: Terms({"tempo": (), "pawn": (2,)}, is_tapered=True).read(path)[0].T.tolist(),
        mutations.json_changed,
        lambda content, found: (
            (told := json.loads(content)) is not None
            and found == [[told["tempo"][end], *told["pawn"][end]] for end in range(2)]
        ),
    )
    models = ResultModels(
        "chess", "x", "pawns", Calibration(1.5, 0.5, 1.0), {"move": WdlModel(1, 9, 2, (1,), (2,))}, "move", {"ban": 0.5}
    )
    models.save(folder / "c.json")
    yield Reader(
        "calibration",
        ".json",
        (folder / "c.json").read_bytes(),
        ResultModels.load,
        mutations.json_changed,
        lambda content, found: (
            json.loads(content) == {"glem": "calibration", "version": 1, **json.loads(json.dumps(attrs.asdict(found)))}
        ),
    )


def _read_configurations(path: Path) -> Any:
    found = ConfigurationSet.load(path)
    table = {"table_features": found.table.features, "table_values": found.table.values}
    return {**table, "relations": found.relations, "sizes": found.sizes, "match_counts": found.match_counts}


def _read_probcut(path: Path) -> Any:
    found = ProbCut.load(path)
    return {name: getattr(found, name) for name in ("check_depths", "slopes", "offsets", "deviations", "counts")}


def _work_readers(folder: Path) -> Iterator[Reader]:
    lines = mutations.json_lines_changed
    FileCheckpoint(folder / "fit.npz", "f").save({"parameters": np.arange(5.0), "norm": np.array(2.0)})
    yield _archive("fit checkpoint", folder / "fit.npz", lambda path: FileCheckpoint(path, "f").load())
    result = FitResult("descent", True, "done", np.arange(3.0), np.arange(3.0), 2, 5, 10.0)
    ones = np.ones((2, 3))
    PhaseWeights(ones[:, 0], ones, ones, ones, ones, IDENTITY, (result, result)).save(folder / "w.npz")
    yield _archive("fitted weights", folder / "w.npz", _read_weights)
    results = ArchiveFormat("glem results", version=1, required=(), optional=None, packed=False)
    results.write(folder / "r.npz", {}, {"label": np.arange(4.0)})
    yield _archive("results of tasks", folder / "r.npz", lambda path: results.read(path)[1])
    settings = {"minimum": 3, "sizes": [1, 2], "data": "x"}
    part = {"relation": np.arange(3, dtype=np.uint16), "depth": np.ones(3, np.uint8), "matches": np.ones(3, np.uint32)}
    _PART.write(folder / "part.npz", {}, part)
    yield _archive("mining part", folder / "part.npz", lambda path: _PART.read(path)[1])
    (folder / "claimed").mkdir()
    claim_folder(folder / "claimed", settings)
    mark = (folder / "claimed" / "work.json").read_bytes()
    yield Reader(
        "work.json", ".json", mark, _read_mark(settings), mutations.json_changed, lambda content, found: content == mark
    )
    record = folder / "record.jsonl"
    run_tournament(quick_tournament(load_game("othello"), *QUICK[:2], pairs=1), record)
    yield Reader("tournament", ".jsonl", record.read_bytes(), _read_tournament, lines, readings.right_journal)
    verdict = Verdict(1, "a", "scale a 2", "b", *(0.5,) * 7, True, 1.0, None, 10, 3, 0.1)  # type: ignore[arg-type]
    for kind, written, parse in (
        ("learning", attrs.asdict(verdict), lambda found: attrs.asdict(instance_of(Verdict, found))),
        ("spsa", {"iteration": 1, "values": [1.5, 2.0], "outcomes": [0.0, -1.5]}, _read),
    ):
        path = folder / f"{kind}.jsonl"
        with Journal(path, kind, {"a": 1}) as journal:
            journal.append(written)
            journal.append(written)
        yield Reader(
            f"journal of {kind}", ".jsonl", path.read_bytes(), _read_records(kind, parse), lines, readings.right_journal
        )


def _read_records(kind: str, parse: Callable[[Any], Any]) -> Callable[[Path], Any]:
    return lambda path: list(read_journal(path, kind, parse)[1])


def _read_tournament(path: Path) -> Any:
    game, _, games = read_games(path)
    return [json.loads(json.dumps(played.to_json(game))) for played in games]


def _read_weights(path: Path) -> Any:
    found = PhaseWeights.load(path, IDENTITY)
    return {name: getattr(found, name) for name in ("bias", "patterns", "configurations", "linear", "match_counts")}


def _read_mark(settings: Any) -> Callable[[Path], Any]:
    def read(path: Path) -> Any:
        folder = path.with_name(f"{path.name}.work")
        folder.mkdir(exist_ok=True)
        (folder / "work.json").write_bytes(path.read_bytes())
        return claim_folder(folder, settings)

    return read


def _settings_readers(folder: Path) -> Iterator[Reader]:
    """What users write to say what is wanted, and what ``grade calibrate``, ``tune-options`` and ``train`` keep."""
    fields, of_json = mutations.fields_changed, mutations.json_changed
    learning = load_learning("othello")
    text = b"# patterns\ncorner: a1 b1 a2 b2\nedge: a1 b1 c1 d1 e1 f1 g1 h1\n"
    yield Reader("patterns", ".txt", text, lambda path: read_pattern_file(learning.features, path), fields, _unchecked)
    options = b"# options\nHash\nKing, int, 20, 0, 100, 4, 0.002\n"
    yield Reader("options", ".txt", options, read_lines, mutations.bytes_changed, _unchecked)
    elo = {
        "score": 0.6,
        "elo": 50.0,
        "error": 20.0,
        "normalized_elo": 40.0,
        "normalized_error": 9.0,
        "superiority": 0.9,
    }
    told = attrs.asdict(
        Generation(
            0, 5, 40, 40, (9.0, 8.0), 1.0, 0.1, 3, 1, 2, EloEstimate(**elo), "H1", True, 30.0, ("a",), "given", 2.5
        )
    )
    content = json.dumps([told, {**told, "number": 1}]).encode()
    yield Reader("generations", ".json", content, _read_generations, of_json, _unchecked)
    yield Reader("given-00", ".json", b"[20, 400, 58]", _read_facts, of_json, _unchecked)


def _table_readers(folder: Path) -> Iterator[Reader]:
    """Positions and terms with results as other programs write them."""
    fields = mutations.fields_changed
    terms = pa.table(
        {
            "result": ["1-0", "0-1", "1/2-1/2"] * 4,
            "game": [number // 2 for number in range(12)],
            "phase": [number / 12 for number in range(12)],
            "material": list(range(12)),
            "tempo": [0.5, -0.5, 1.0] * 4,
        }
    )
    plain = {name: np.array(terms[name].to_pylist()) for name in terms.column_names if name != "result"}
    plain["result"] = np.array([1, -1, 0] * 4)
    pq.write_table(terms, folder / "terms.parquet")
    pc.write_csv(terms, folder / "terms.csv")
    (folder / "terms.npz").write_bytes(mutations.archive_of(plain))
    for name, change in (("csv", fields), ("parquet", mutations.table_changed), ("npz", mutations.arrays_changed)):
        content = (folder / f"terms.{name}").read_bytes()
        yield Reader(f"terms in {name}", f".{name}", content, _read_terms, change, _unchecked)
    chess_game = load_game("chess")
    fens = [line.split(";")[0] for line in FENS.decode().splitlines()[1:]] * 3
    results = ["1-0", "0-1", "1/2-1/2"] * 4
    lines = "".join(f'{fen[:-4]} c9 "{result}";\n' for fen, result in zip(fens, results, strict=True)).encode()
    barred = "".join(f"{fen} | {17 * place} | {place % 3 / 2}\n" for place, fen in enumerate(fens)).encode()
    table = "fen,result,ply\n" + "".join(f"{fen},{result},7\n" for fen, result in zip(fens, results, strict=True))
    columns = pa.table({"fen": fens, "result": results})
    pq.write_table(columns, folder / "fens.parquet")
    read = _read_lines(chess_game)
    for name, suffix, content, change in (
        ("EPD with results", ".epd", lines, fields),
        ("FEN between bars", ".txt", barred, fields),
        ("FEN in CSV", ".csv", table.encode(), fields),
        ("FEN in Parquet", ".parquet", (folder / "fens.parquet").read_bytes(), mutations.table_changed),
    ):
        yield Reader(name, suffix, content, read, change, _unchecked)
    othello = load_game("othello")
    ggf = b"(;GM[Othello]PC[a]PB[x]PW[y]RE[+4]TI[5]TY[8]BO[8 " + b"-" * 27 + b"O*" + b"-" * 6 + b"*O" + b"-" * 27
    ggf += b" *]B[f5//1.5]W[d6]B[c3];)\n" * 1
    yield Reader("GGF", ".ggf", ggf, readings.read_game_records(othello), fields, _unchecked)
    board = "---------------------------OX------XO---------------------------"
    table = "board,side,score\n" + f"{board},X,3\n{board},X,-1\n" * 3
    yield Reader("boards in CSV", ".csv", table.encode(), _read_lines(othello), fields, _unchecked)


def _training_of(path: Path) -> Any:
    return training._Training(load_learning("othello"), path.parent, TrainingSettings(), (), None, 1, SILENT)


def _read_generations(path: Path) -> Any:
    found = _training_of(path)
    return found.done, found.best


def _read_facts(path: Path) -> Any:
    path.with_name("generations.json").unlink(missing_ok=True)
    return _training_of(path)._facts(0)


def _read_terms(path: Path) -> Any:
    return list(blocks_of_table(path, held_out=0.2, seed=1))


def _read_lines(game: Any) -> Callable[[Path], Any]:
    return lambda path: list(read_scored_positions(game, path))
