"""What is on disk, for all that a result rests on: each question and its answer is noted.

Everything that looks at files for the analysis of one (is there such a file, what does it say, which names does this
folder have) does so through here, so that a result can be kept together with what it rests on, and a later run can ask
the same again (`cudalint.run.cache`). A question with the answer "there is nothing" counts as much as any other: a
header that appears where one was looked for in vain changes what is included.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache, update_wrapper
from hashlib import blake2b
from importlib import import_module
from typing import Any, Final, Generic, Literal, ParamSpec, TypeVar

from msgspec import MsgspecError, Struct, field
from msgspec.msgpack import Decoder, Encoder
from msgspec.structs import replace

Kind = Literal["file", "folder", "other", "none"]
"""What a path leads to; `none` where that is nothing, or is not known."""

P = ParamSpec("P")
R = TypeVar("R")
K = TypeVar("K", str, bytes)

_RECENT: Final = 2_000_000_000
"""Nanoseconds in which a file may change again without that its times tell: some systems count in such steps."""
_STEP: Final = 10_000_000
"""Nanoseconds in whose steps the system's clock goes that files are dated by."""
_MOST_OF_A_TEXT: Final = 1 << 20
UNREADABLE: Final = b""
MANY: Final = b"many"
BELOW: Final = "below:"
"""Begins what tells a list of all that is below a folder from one of the folder itself."""
STAMPS: Final = "stamps:"
"""Begins what asks for the times and sizes of all that is below a folder."""
ALONE: Final = 0
"""In place of the most folders below one: it is asked for its own files."""


class Stamp(Struct, frozen=True, array_like=True):
    """What tells without reading that a file is what it was."""

    modified: int
    changed: int
    size: int
    inode: int


class Text(Struct, frozen=True, array_like=True):
    """What a file held."""

    digest: bytes
    """Of all of it, or of the first `most` bytes; `UNREADABLE` for none that could be read."""
    most: int = -1
    stamp: Stamp | None = None
    """None where the file had changed so shortly before that a further change might show the same."""
    changed: int = 0
    """When it last changed, by the system's clock."""


class Seen(Struct):
    """Questions, and how they were answered."""

    kinds: dict[str, Kind] = field(default_factory=dict)
    texts: dict[str, Text] = field(default_factory=dict)
    names: dict[str, bytes] = field(default_factory=dict)
    """Digests of lists of names, by the folder and what was asked of it (`listing_key`)."""
    resolved: dict[str, str] = field(default_factory=dict)
    answers: dict[bytes, bytes] = field(default_factory=dict)
    """Digests of what larger questions came to (`question`), by what was asked."""
    behind: Seen | None = None
    """What only these rest on: while it is as it was, they needn't be asked again."""
    is_repeatable: bool = True
    """Whether one question had one answer all the time, and nothing failed for want of memory."""
    is_timed: bool = False
    """Whether the clock had a say: another run might get further."""

    def add(self, other: Seen) -> None:
        agree = (
            _agree(self.kinds, other.kinds), _agree(self.names, other.names), _agree(self.resolved, other.resolved),
            _agree(self.answers, other.answers),
        )  # fmt: skip
        self.is_repeatable = self.is_repeatable and other.is_repeatable and all(agree)
        self.is_timed = self.is_timed or other.is_timed
        self.kinds |= other.kinds
        self.names |= other.names
        self.resolved |= other.resolved
        self.answers |= other.answers
        for path, text in other.texts.items():
            self.add_text(path, text)
        if other.behind is not None:
            self.add_behind(other.behind)

    def add_behind(self, other: Seen) -> None:
        self.behind = self.behind or Seen()
        self.behind.add(other)
        self.is_repeatable = self.is_repeatable and self.behind.is_repeatable
        self.is_timed = self.is_timed or self.behind.is_timed

    def flat(self) -> Seen:
        """All of it as what a larger question rests on, whichever questions were asked on the way."""
        whole = Seen(is_repeatable=self.is_repeatable, is_timed=self.is_timed)
        for part in (self, self.behind or Seen()):
            whole.add(replace(part, answers={}, behind=None))
        return whole

    def add_text(self, path: str, text: Text) -> None:
        known = self.texts.get(path)
        if known is None or (known.most >= 0 and not 0 <= text.most <= known.most):
            self.texts[path] = text
        elif known.most == text.most and known.digest != text.digest:
            # It changed in between.
            self.is_repeatable = False

    def is_old(self, start: int) -> bool:
        """Whether no file has changed since `start`, by the system's clock: libclang reads files itself."""
        is_behind_old = self.behind is None or self.behind.is_old(start)
        return is_behind_old and all(text.changed < start - _STEP for text in self.texts.values())


def _agree(answers: Mapping[K, R], others: Mapping[K, R]) -> bool:
    return all(answers.get(question, answer) == answer for question, answer in others.items())


_noted = Seen()
_is_noting = False


@contextmanager
def noting() -> Iterator[Seen]:
    """Notes what is asked from here on; whoever notes already has it noted too."""
    global _noted, _is_noting
    outer, was_noting = _noted, _is_noting
    _noted, _is_noting = Seen(), True
    try:
        yield _noted
    finally:
        if was_noting:
            outer.add(_noted)
        _noted, _is_noting = outer, was_noting


def note(seen: Seen) -> None:
    """Notes questions that were asked before, for an answer that is used again."""
    if _is_noting:
        _noted.add(seen)


def note_clock() -> None:
    """Time has run out for something: another run might get further."""
    _noted.is_timed = True


def note_chance() -> None:
    """What comes out depends on what else the machine is at, such as how much memory is left."""
    _noted.is_repeatable = False


_memories: list[_Remembered[..., Any]] = []


class _Remembered(Generic[P, R]):
    def __init__(self, function: Callable[P, R], most: int | None) -> None:
        def noted(*args: P.args, **kwargs: P.kwargs) -> tuple[R, Seen]:
            with noting() as seen:
                return function(*args, **kwargs), seen

        self._answers = lru_cache(maxsize=most)(noted)
        _memories.append(self)
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        value, seen = self._answers(*args, **kwargs)  # type: ignore[arg-type]  # As all that `lru_cache` is asked for.
        if _is_noting:
            _noted.add(seen)
        return value

    def cache_clear(self) -> None:
        self._answers.cache_clear()


def remembered(most: int | None) -> Callable[[Callable[P, R]], _Remembered[P, R]]:
    """As `functools.lru_cache`, for functions that look at files: who is given a remembered answer has asked what it
    rests on, too."""
    return lambda function: _Remembered(function, most)


def forget() -> None:
    """Has everything asked of the disk again, as another run does."""
    for memory in _memories:
        memory.cache_clear()


# --- larger questions ----------------------------------------------------------------------------------------


class Question(Generic[P, R]):
    """See `question`."""

    def __init__(self, function: Callable[P, R]) -> None:
        self._function = function
        self._name = f"{function.__module__}:{function.__qualname__}"
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if not _is_noting:
            return self._function(*args, **kwargs)
        with noted_separately() as seen:
            value = self._function(*args, **kwargs)
        rests_on = Seen(answers={_ENCODER.encode((self._name, args)): _digest_of(value)})
        rests_on.add_behind(seen.flat())
        _noted.add(rests_on)
        return value


def question(function: Callable[P, R]) -> Question[P, R]:
    """For functions of a module that look at much and find little: which files of a folder call a function. What is
    noted is what they were asked and a digest of what they answered, so that nothing else counts of all that they have
    looked at. Arguments are texts, bytes, numbers and tuples of such, by position; answers are whatever msgpack has."""
    return Question(function)


def answer_now(asked: bytes) -> bytes | None:
    """The digest of what a larger question comes to by now; None for what is no such question."""
    question = asked_by(asked)
    if question is None:
        return None
    function, args = question
    try:
        return _digest_of(function(*args))
    except (TypeError, ValueError, OSError, MsgspecError):
        return None


def asked_by(asked: bytes) -> tuple[Question[..., Any], tuple[Any, ...]] | None:
    """A larger question that was noted, and what it was asked about; None for what is no such question."""
    try:
        name, args = _ASKED.decode(asked)
        module, _, function = name.partition(":")
        found = getattr(import_module(module), function) if module.startswith(_PROGRAM) else None
    except (ImportError, AttributeError, ValueError, MsgspecError):
        return None
    return (found, tuple(map(as_asked, args))) if isinstance(found, Question) else None


def as_asked(argument: Any) -> Any:
    """An argument as it was before it was noted."""
    return tuple(map(as_asked, argument)) if isinstance(argument, list) else argument


def _digest_of(value: object) -> bytes:
    return digest(_ENCODER.encode(value))


@contextmanager
def noted_separately() -> Iterator[Seen]:
    """Notes what is asked from here on for nobody else, unless it comes to no end."""
    global _noted
    outer, _noted = _noted, Seen()
    seen = _noted
    try:
        yield seen
    except BaseException:
        outer.add(seen)
        raise
    finally:
        _noted = outer


@contextmanager
def by_stamps(folder: str, suffixes: tuple[str, ...], most: int) -> Iterator[None]:
    """Notes of all that is looked at from here on no more than the times and sizes of the files that end so in a folder
    and below it (see `names_below`), or in it `ALONE`: for what rests on the texts of a whole project, of which there
    are thousands."""
    stamps = stamps_below(folder, suffixes, most)
    with noted_separately():
        yield
    if _is_noting:
        _noted.names[stamps_key(folder, suffixes, most)] = stamps


_PROGRAM: Final = f"{__name__.partition('.')[0]}."
_ENCODER: Final = Encoder(order="deterministic")
_ASKED: Final = Decoder(tuple[str, list[Any]])


# --- questions -----------------------------------------------------------------------------------------------


def kind_of(path: str) -> Kind:
    """What a path leads to, links followed."""
    kind = _kind(path)
    if _is_noting:
        _noted.kinds[path] = kind
    return kind


def is_file(path: str) -> bool:
    return kind_of(path) == "file"


def is_folder(path: str) -> bool:
    return kind_of(path) == "folder"


def exists(path: str) -> bool:
    return kind_of(path) != "none"


def resolved(path: str) -> str:
    """The path without links."""
    found = os.path.realpath(path)
    if _is_noting:
        _noted.resolved[path] = found
    return found


def names_in(folder: str, suffixes: tuple[str, ...]) -> list[str]:
    """The names in a folder that end so, in order; none where it can't be looked into."""
    names = listed(folder, suffixes)
    if _is_noting:
        _noted.names[listing_key(folder, suffixes)] = digest_of_names(names)
    return names or []


def folders_in(folder: str, most: int) -> list[str]:
    """The names of the folders in one, without hidden ones, in order; none where there are more than `most`."""
    names = listed_folders(folder)
    is_too_much = names is not None and len(names) > most
    if _is_noting:
        _noted.names[listing_key(folder, most)] = MANY if is_too_much else digest_of_names(names)
    return [] if names is None or is_too_much else names


def names_below(folder: str, suffixes: tuple[str, ...], most: int) -> list[str]:
    """The files that end so in a folder and in all below it, as paths from there, in order; none where there are more
    than `most` folders. Hidden ones are not looked into, and links to folders are not followed."""
    names = listed_below(folder, suffixes, most)
    if _is_noting:
        _noted.names[below_key(folder, suffixes, most)] = digest_of_names(names)
    return names or []


def note_text(path: str, data: bytes, most: int, status: os.stat_result) -> None:
    """Notes what was read of a file, no more than `most` bytes where that is not negative."""
    if _is_noting:
        _noted.add_text(path, text_of(data, most, status))


def note_unreadable(path: str) -> None:
    if _is_noting:
        _noted.kinds[path] = _kind(path)
        _noted.add_text(path, Text(UNREADABLE))


def is_noting() -> bool:
    """Whether anybody wants to know what is asked."""
    return _is_noting


# --- what answers consist of ---------------------------------------------------------------------------------


def text_of(data: bytes, most: int, status: os.stat_result) -> Text:
    changed = max(status.st_mtime_ns, status.st_ctime_ns)
    stamp = stamp_of(status) if changed < time.time_ns() - _RECENT else None
    return Text(digest(data), most if 0 <= most <= len(data) else -1, stamp, changed)


def stamp_of(status: os.stat_result) -> Stamp:
    return Stamp(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)


def digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def digest_of_names(names: list[str] | None) -> bytes:
    return UNREADABLE if names is None else digest("\0".join(names).encode("utf-8", "surrogateescape"))


def listing_key(folder: str, asked: tuple[str, ...] | int) -> str:
    return f"{folder}\0{asked}" if isinstance(asked, int) else "\0".join((folder, *asked))


def below_key(folder: str, suffixes: tuple[str, ...], most: int) -> str:
    return "\0".join((folder, f"{BELOW}{most}", *suffixes))


def stamps_key(folder: str, suffixes: tuple[str, ...], most: int) -> str:
    return "\0".join((folder, f"{STAMPS}{most}", *suffixes))


def stamps_below(folder: str, suffixes: tuple[str, ...], most: int) -> bytes:
    """A digest of the times and sizes of files, and of what those hold that have changed so shortly before that a
    further change might show the same."""
    stamps: list[Stamp | bytes | None] = []
    now = time.time_ns()
    names = listed(folder, suffixes) if most == ALONE else listed_below(folder, suffixes, most)
    for name in names or ():
        path = os.path.join(folder, name)
        try:
            # Links lead where nobody is to look.
            status = os.lstat(path)
            is_old = max(status.st_mtime_ns, status.st_ctime_ns) < now - _RECENT
            stamps.append(stamp_of(status) if is_old else _text_digest(path, status))
        except OSError:
            stamps.append(None)
    return digest(_ENCODER.encode(stamps))


def _text_digest(path: str, status: os.stat_result) -> bytes:
    """Nothing of what is no file."""
    if not stat.S_ISREG(status.st_mode):
        return UNREADABLE
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    with open(os.open(path, flags), "rb") as file:
        return digest(file.read(_MOST_OF_A_TEXT))


def listed_below(folder: str, suffixes: tuple[str, ...], most: int) -> list[str] | None:
    """None where there are too many folders."""
    found: list[str] = []
    for number, (base, folders, names) in enumerate(os.walk(folder)):
        if number == most:
            return None
        folders[:] = [name for name in folders if not name.startswith(".")]
        within = os.path.relpath(base, folder)
        found += [os.path.normpath(os.path.join(within, name)) for name in names if name.endswith(suffixes)]
    return sorted(found)


def listed(folder: str, suffixes: tuple[str, ...]) -> list[str] | None:
    """None where the folder can't be looked into."""
    try:
        return sorted(name for name in os.listdir(folder or os.curdir) if name.endswith(suffixes))
    except OSError:
        return None


def listed_folders(folder: str) -> list[str] | None:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir() and not entry.name.startswith("."))
    except OSError:
        return None


def _kind(path: str) -> Kind:
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return "none"
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else "other"
