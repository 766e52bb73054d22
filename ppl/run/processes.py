"""Tasks beside each other: a process each, as many at a time as there are cores."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from ppl.errors import InferenceError, PPLError
from ppl.late import LateModule
from ppl.run import interrupt

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

multiprocessing, connection = LateModule("multiprocessing"), LateModule("multiprocessing.connection")

T = TypeVar("T")

ENDING = (signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))
"""What a scheduler sends, and a terminal that is closed."""
SECONDS_TO_END = 10.0
"""What other processes have to write their checkpoints in."""

Tell = Callable[[Any], None]
"""What a task calls with what it has to say on its way."""

Task = Callable[[Tell], T]


class Answer(NamedTuple):
    """What a task returned, or the error that ended it."""

    value: Any = None
    error: PPLError | None = None


def can_fork() -> bool:
    """Whether tasks can be processes: JAX has threads, which no fork may copy."""
    return "jax" not in sys.modules and "fork" in multiprocessing.get_all_start_methods()


def at_a_time(
    tasks: Sequence[Task[T]], hear: Tell, killed: str, cores: int, partial: bool = False
) -> Iterator[list[T]]:
    """What the tasks return, in their order, as many at a time as they may take cores.

    `hear` is told in this process what the tasks say. Ctrl-C reaches every task, which ends as it sees fit,
    and is waited for. With `partial`, SIGTERM and SIGHUP do the same. On one core they follow each other in
    this process, as where they cannot be processes.

    Raises:
        PPLError: a task raised it; the others are ended.
        InferenceError: a process was killed; `killed` says so, with its exit status.
    """
    many = cores if can_fork() else 1
    for first in range(0, len(tasks), many):
        some = tasks[first : first + many]
        yield [task(hear) for task in some] if many == 1 else _at_once(some, hear, killed, partial)


def _at_once(tasks: Sequence[Task[T]], hear: Tell, killed: str, partial: bool) -> list[T]:
    """A process a task. They are forks: compiled code does not travel to a process that begins afresh."""
    context = multiprocessing.get_context("fork")
    began: dict[Connection, Any] = {}
    for task in tasks:
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(there, task, partial))
        process.start()
        there.close()
        began[here] = process
    try:
        with _passed_on(list(began.values())):
            answers = _answers(began, hear, killed)
        return [cast(T, answers[here]) for here in began]
    except SystemExit:  # a signal ends this process: the others end in order too
        for process in began.values():
            process.terminate()
        for process in began.values():
            process.join(SECONDS_TO_END)
        raise
    finally:
        for process in began.values():
            process.kill()
            process.join()


def _answers(began: "Mapping[Connection, Any]", hear: Tell, killed: str) -> "dict[Connection, Any]":
    """What every process sends at its end; until then, what it says. The first to fail ends all."""
    answers: dict[Connection, Any] = {}
    while left := [here for here in began if here not in answers]:
        for here in cast(list["Connection"], connection.wait(left)):
            try:
                message = here.recv()
            except EOFError:
                began[here].join()
                raise InferenceError(killed.format(began[here].exitcode)) from None
            match message:
                case Answer(error=PPLError() as error):
                    raise error
                case Answer():
                    answers[here] = message.value
                case _:
                    hear(message)
    return answers


@contextmanager
def _passed_on(processes: Sequence[Any]) -> Iterator[None]:
    """Ctrl-C ends the processes where they are, and what they have is waited for; a second one ends all.

    It comes between two messages, never in the middle of one.
    """
    if threading.current_thread() is not threading.main_thread():  # which alone hears of it
        yield
        return

    def pass_on(*_: Any) -> None:
        interrupt.note()
        signal.signal(signal.SIGINT, before)
        for process in processes:
            os.kill(process.pid, signal.SIGINT)

    before = signal.signal(signal.SIGINT, pass_on)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _run(there: "Connection", task: Task[Any], partial: bool) -> None:
    """In a process of its own, where what the program prints goes past the bar, which is another's."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    signal.set_wakeup_fd(-1)  # which the parent has too
    signal.signal(signal.SIGINT, _interrupt_once)
    for number in ENDING:
        signal.signal(number, _interrupt_once if partial else _end)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    try:
        answer = Answer(task(there.send))
    except PPLError as error:
        answer = Answer(error=error)
    _ignore_signals()  # half an answer is none
    there.send(answer)


def _end_with_parent() -> None:
    """End this process once its parent has ended, by a signal too: nobody reads its pipe then.

    The pipe itself does not tell, since a fork holds both of its ends. `multiprocessing` has another pipe
    for each process that only the parent writes to.
    """
    cast(Any, multiprocessing.parent_process()).join()
    os._exit(1)


def _interrupt_once(*_: Any) -> None:
    """Ctrl-C at a terminal reaches a process both by itself and from the one that began it."""
    _ignore_signals(_none)
    raise KeyboardInterrupt


def _end(number: int, _: Any) -> None:
    """End the process as soon as a run has written its checkpoint."""
    _ignore_signals()
    raise SystemExit(128 + number)


def _ignore_signals(handler: Any = signal.SIG_IGN) -> None:
    for number in (signal.SIGINT, *ENDING):
        signal.signal(number, handler)


def _none(*_: Any) -> None:
    """Ignore a signal, also one that has come already: Python would print an error about it."""


@contextmanager
def ended_in_order() -> Iterator[None]:
    """SIGTERM and SIGHUP are a SystemExit with the status that shells give them, unless they are ignored."""
    main = threading.current_thread() is threading.main_thread()
    before = {n: signal.getsignal(n) for n in (signal.SIGINT, *ENDING) if main}
    for number in ENDING:
        if before.get(number) is signal.SIG_DFL:
            signal.signal(number, _end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def ended_by_ctrl_c() -> Iterator[list[int]]:
    """SIGTERM and SIGHUP are what Ctrl-C is, unless they are ignored; the list has the one that came."""
    came = list[int]()

    def pass_on(number: int, _: Any) -> None:
        came.append(number)
        for each in ours:
            signal.signal(each, _none)
        signal.raise_signal(signal.SIGINT)

    main = threading.current_thread() is threading.main_thread()
    ours = [n for n in ENDING if main and signal.getsignal(n) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, pass_on)
    try:
        yield came
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
