"""How a Makefile says that a program is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.toolchain.buildfiles.run_command import run_command


def _words(folder: Path, makefile: str, name: str = "main.cu") -> tuple[str, ...] | None:
    source = folder / name
    source.touch()
    (folder / "Makefile").write_text(makefile)
    command = run_command(str(source))
    return None if command is None else command.words


BUILT = "main: main.cu\n\tnvcc $< -o $@\n"


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ("run: main\n\t./main 10 20\n", ("./main", "10", "20")),
        ("program = main\nrun: $(program)\n\t$(LAUNCHER) ./$(program) 10\n", ("./main", "10")),
        ("SIZE := 64\nARGS = -n ${SIZE}\nrun:\n\t@./main $(ARGS) > log.txt\n", ("./main", "-n", "64")),
        ("ARGS ?= 1\nARGS ?= 2\nARGS += 3\nrun:\n\t./main $(ARGS)\n", ("./main", "1", "3")),
        ("run: main\n\t./$< 7 \\\n\t  8\n", ("./main", "7", "8")),
        ("run:\n\tmpirun -n 2 ./main 5 | tee log\n", ("./main", "5")),
        ("run:\n\t./main 5; ./main 6\n", ("./main", "5")),
        ("run:\n\t./main 'a b' < input\n", ("./main", "a b")),
        ("run: main\n\t./main 10\n\t./main 2000\n", ("./main", "2000")),
        ("ifeq ($(BIG),yes)\nSIZE = 9\nendif\nrun:\n\t./main 1$(SIZE)\n", ("./main", "1")),
        ("run:\n\t./main 1\nclean:\n\t./main 2\n", ("./main", "1")),
    ],
)
def test_the_arguments_of_a_recipe(tmp_path: Path, recipe: str, words: tuple[str, ...]) -> None:
    assert _words(tmp_path, BUILT + recipe) == words


@pytest.mark.parametrize(
    "makefile",
    [
        BUILT,
        # Nothing is said of what the program's options might be.
        BUILT + "run: main\n\t./main\n",
        # Only the shell or make knows these words.
        BUILT + "run: main\n\tfor n in 1 2; do ./main $$n; done\n",
        BUILT + "run: main\n\t./main `nproc`\n",
        BUILT + "run: main\n\t./main *.txt\n",
        BUILT + "run: main\n\t./main $(shell nproc)\n",
        BUILT + 'run: main\n\t./main "unfinished\n',
        # Another program, and a file of which none is built.
        BUILT + "run: main\n\t./one 1\n\t./two 2\n",
        "run: other\n\t./other 10\n",
    ],
)
def test_a_command_that_is_not_known(tmp_path: Path, makefile: str) -> None:
    assert _words(tmp_path, makefile) is None


def test_the_program_that_is_called_as_the_file_is(tmp_path: Path) -> None:
    makefile = "all: one two\nrun:\n\t./one 1\n\t./two 2\n\t./two 3\n"
    assert _words(tmp_path, makefile, "one.cu") == ("./one", "1")
    assert _words(tmp_path, makefile, "two.cu") == ("./two", "3")


def test_where_it_is_said(tmp_path: Path) -> None:
    source = tmp_path / "main.cu"
    source.touch()
    (tmp_path / "Makefile").write_text("\n\nrun:\n\t./main \\\n\t  4\n")
    command = run_command(str(source))
    assert command is not None
    assert command.place == "Makefile:4"


def test_makefiles_that_cannot_be_read_as_such(tmp_path: Path) -> None:
    source = tmp_path / "main.cu"
    source.touch()
    (tmp_path / "Makefile").write_bytes(b"run:\n\t./main \xff\xfe 3\nmain.o: main.cu\n\0\0")
    command = run_command(str(source))
    assert command is not None
    assert command.words[2] == "3"
    (tmp_path / "Makefile").unlink()
    (tmp_path / "Makefile").mkdir()
    assert run_command(str(source)) is None
    assert run_command(str(tmp_path / "missing.cu")) is None
