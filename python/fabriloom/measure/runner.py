"""The runner in Python, one process: it does what ``runner.c`` does, a few microseconds per message slower.

Started by ``mpiexec`` as ``python -m fabriloom.measure.runner``. The first process reads the plan from its
standard input and writes the measurements to its standard output, in the formats of ``runner.c``.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
from mpi4py import MPI  # from the optional extra

from fabriloom.measure.launch import version
from fabriloom.measure.plan import HEAD

ANY, SENDER, TAGGED = -1, -2, -3
SAME, SENDER_NUMBER = -2, -3
SEND, RECEIVE, WAIT, UNTIL, REPEAT, END, BARRIER, MARK, _READ, FLUSH = range(10)
STUCK, REFUSED, PINGS, WINDOW = 87, 88, 64, 4096
TO_READ_S = 0.5

now = time.monotonic_ns


def refuse(what: str) -> NoReturn:
    """End all processes with a message.

    A launcher that ends them at once may not have read the message yet: it gets time for it.
    """
    os.write(2, f"FABRILOOM-REFUSED {what}\n".encode())
    time.sleep(TO_READ_S)
    MPI.COMM_WORLD.Abort(REFUSED)
    raise SystemExit(REFUSED)


class Reader:
    """The plan; each process gets its own part of it."""

    def __init__(self, world: MPI.Intracomm) -> None:
        self.world, self.rank, self.ranks = world, world.Get_rank(), world.Get_size()
        self.head = dict(zip(HEAD, self.shared(len(HEAD)).tolist(), strict=True))
        if self.head["ranks"] != self.ranks:
            refuse("there are fewer processes than terminals")
        self.start = self.shared(self.ranks + 1)
        self.terminal_of, self.rank_of = self.shared(self.ranks), self.shared(self.head["terminals"])
        self.columns = [self.own() for _ in range(6)]

    def _read(self, count: int) -> np.ndarray:
        found = sys.stdin.buffer.read(8 * count)
        if len(found) != 8 * count:
            refuse("the plan ends too early")
        return np.frombuffer(found, np.int64)

    def shared(self, count: int) -> np.ndarray:
        """Return numbers that all processes get."""
        found = self._read(count).copy() if self.rank == 0 else np.empty(count, np.int64)
        self.world.Bcast(found)
        return found

    def own(self) -> list[int]:
        """Return a column of this process's operations."""
        counts = np.diff(self.start)
        mine = np.empty(int(counts[self.rank]), np.int64)
        everything = None
        if self.rank == 0:
            everything = [self._read(self.head["rows"]).copy(), counts, self.start[:-1], MPI.INT64_T]
        self.world.Scatterv(everything, mine)
        return mine.tolist()


class Process:
    """The process that represents one terminal."""

    def __init__(self, world: MPI.Intracomm) -> None:
        self.rank, self.ranks = world.Get_rank(), world.Get_size()
        self.main, self.others = world.Dup(), world.Dup()
        self.step, self.row = 0, -1
        self.plan = Reader(world)
        head = self.plan.head
        self.kind, self.peer, self.bytes, self.tag, self.amount, self.server = self.plan.columns
        self.window = min(head["at_once"] or WINDOW, WINDOW)
        self.stored, self.patience_s = head["stored"], head["patience_s"]
        self.out, self.incoming = bytearray(head["longest"]), bytearray(head["longest"])
        self.barriers = world.Split(0 if BARRIER in self.kind else MPI.UNDEFINED, self.rank)
        self.tag_most = int(world.Get_attr(MPI.TAG_UB) or 32767)
        self.clear()

    def clear(self) -> None:
        self.made: list[list[int]] = []
        self.received: list[tuple[int, ...]] = []
        self.marks: list[tuple[int, int]] = []
        self.under_way: list[tuple[Any, list[int]]] = []
        self.blocked = self.zero = self.last_sender = self.last_tag = 0
        self.asked: Any = None
        self.sums, self.before, self.over = np.zeros(2, np.int64), (-1, -1), False

    def watch(self) -> None:
        """Report who waits where, if nothing happens for too long."""
        before, since = -1, time.monotonic()
        while True:
            time.sleep(0.2)
            if self.step != before:
                before, since = self.step, time.monotonic()
            elif self.row >= 0 and time.monotonic() - since > self.patience_s:
                os.write(2, f"FABRILOOM-WAITS {self.rank} {self.row}\n".encode())
                time.sleep(0.5)
                os._exit(STUCK)

    def look(self, places: int) -> None:
        """Check which messages are sent; wait for one of them if there is no free place."""
        if not self.under_way:
            return
        begin, full = now(), len(self.under_way) >= places
        requests = [request for request, _ in self.under_way]
        done = (MPI.Request.Waitsome if full else MPI.Request.Testsome)(requests) or []
        at = now()
        self.blocked += at - begin if full else 0
        for place in done:
            self.under_way[place][1][5] = at - self.zero
        gone = set(done)
        self.under_way = [pair for place, pair in enumerate(self.under_way) if place not in gone]

    def on_wire(self, tag: int) -> int:
        """Return the tag for MPI."""
        if tag + 1 > self.tag_most:
            refuse("a tag is larger than this MPI allows; use smaller tags")
        return max(0, tag + 1)

    def send(self, row: int) -> None:
        if len(self.under_way) >= self.window:
            self.look(self.window)
        peer, tag, size = self.peer[row], self.tag[row], self.bytes[row]
        if peer == SENDER:
            peer = self.last_sender
        elif peer == TAGGED:
            known = 0 <= self.last_tag < self.plan.head["terminals"]
            peer = int(self.plan.rank_of[self.last_tag]) if known else -1
            if peer in (-1, self.rank):
                refuse("a message names a terminal that there is not, by its tag")
        if tag == SAME:
            tag = self.last_tag
        elif tag == SENDER_NUMBER:
            tag = int(self.plan.terminal_of[self.last_sender])
        wire = self.on_wire(tag)
        message = [peer, size, tag, 0, 0, -1]
        begin = now()
        request = self.main.Isend([self.out, size, MPI.BYTE], peer, wire)
        if self.stored:
            request.Wait()
        end = now()
        message[3:5] = begin - self.zero, end - self.zero
        if self.stored:
            message[5] = end - self.zero
        else:
            self.under_way.append((request, message))
        self.made.append(message)

    def is_received(self, status: MPI.Status, began: int) -> None:
        at = now()
        self.last_sender, self.last_tag = status.Get_source(), status.Get_tag() - 1
        times = (began - self.zero, at - self.zero)
        self.received.append((self.last_sender, status.Get_count(MPI.BYTE), self.last_tag, *times))

    def receive(self, row: int) -> bool:
        """Wait for a message, or, in a server, until all processes are at rest. Returns whether one came."""
        peer, tag = self.peer[row], self.tag[row]
        peer = self.last_sender if peer == SENDER else peer
        tag = self.last_tag if tag == SAME else tag
        source = MPI.ANY_SOURCE if peer < 0 else peer
        wire = MPI.ANY_TAG if tag < 0 else self.on_wire(tag)
        status, began = MPI.Status(), now()
        if not self.server[row]:
            self.main.Recv(self.incoming, source, wire, status)
            self.is_received(status, began)
            self.look(WINDOW + 1)
            return True
        request = self.main.Irecv(self.incoming, source, wire)
        while not request.Test(status):
            self.look(WINDOW + 1)
            if not self.under_way and self.at_rest():
                request.Cancel()
                request.Wait()
                return False
            self.step += 1
        self.is_received(status, began)
        return True

    def at_rest(self) -> bool:
        """Return whether all processes are at rest; see ``runner.c``."""
        if self.over:
            return True
        if self.asked is None:
            self.mine = np.array([len(self.made), len(self.received)], np.int64)
            self.asked = self.others.Iallreduce(self.mine, self.sums)
        if not self.asked.Test():
            return False
        self.asked = None
        sums = (int(self.sums[0]), int(self.sums[1]))
        self.over = sums[0] == sums[1] and sums == self.before
        self.before = sums
        return self.over

    def drain(self) -> None:
        """Receive messages that no operation receives, until all processes are at rest."""
        status = MPI.Status()
        while self.under_way or not self.at_rest():
            self.look(WINDOW + 1)
            if self.main.Iprobe(MPI.ANY_SOURCE, MPI.ANY_TAG, status):
                began = now()
                self.main.Recv(self.incoming, status.Get_source(), status.Get_tag(), status)
                self.is_received(status, began)
                self.step += 1

    def spin(self, until: int, progress: bool) -> None:
        while now() < until:
            if progress:
                self.look(WINDOW + 1)

    def do(self, row: int) -> bool:
        """Execute one operation; false: a server's, and all processes are at rest."""
        kind = self.kind[row]
        if kind == SEND:
            self.send(row)
        elif kind == RECEIVE:
            return self.receive(row)
        elif kind == WAIT:
            self.spin(now() + self.amount[row], False)
        elif kind == UNTIL:
            self.spin(self.zero + self.amount[row], True)
        elif kind == BARRIER:
            self.barriers.Barrier()
        elif kind == FLUSH:
            blocked = self.blocked
            while self.under_way:
                self.look(1)
            self.blocked = blocked
        else:
            tag = self.last_tag if self.tag[row] == SAME else self.tag[row]
            self.marks.append((tag, now() - self.zero))
        return True

    def run(self) -> None:
        """Run the whole program, then receive what others still send."""
        for row in self._rows():
            if not self.do(row):
                break
        self.row = len(self.kind)
        self.drain()

    def _rows(self) -> Iterator[int]:
        """Yield the operations in order, with repeats unrolled."""
        loops: list[list[int]] = []
        row, count = 0, len(self.kind)
        while row < count:
            self.row = row
            self.step += 1
            if self.kind[row] == REPEAT:
                loops.append([row, self.amount[row]])
            elif self.kind[row] == END:
                if loops[-1][1] == 1:
                    loops.pop()
                else:
                    loops[-1][1] -= 1 if loops[-1][1] else 0
                    row = loops[-1][0]
            else:
                yield row
            row += 1

    def compare_clocks(self) -> tuple[int, int]:
        """Return how far this clock is ahead of that of the first process, and the uncertainty."""
        found = (0, 0)
        for other in range(1, self.ranks):
            if self.rank == 0:
                self.others.send(self._pings(other), other, 2)
            elif self.rank == other:
                for _ in range(PINGS):
                    self.others.recv(source=0, tag=1)
                    self.others.send(now(), 0, 1)
                found = self.others.recv(source=0, tag=2)
                if abs(found[0]) <= found[1]:
                    found = (0, 0)  # both processes use the clock of one machine
        return found

    def _pings(self, other: int) -> tuple[int, int]:
        best, offset = 2**62, 0
        for _ in range(PINGS):
            begin = now()
            self.others.send(0, other, 1)
            there = self.others.recv(source=other, tag=1)
            took = now() - begin
            if took < best:
                best, offset = took, there - (begin + took // 2)
        return offset, (best + 1) // 2

    def one_round(self, measured: bool) -> None:
        """Run the program once, with an agreed start."""
        self.clear()
        before = self.compare_clocks()
        zero = self.others.bcast(now() + self.plan.head["lead_ns"] if self.rank == 0 else None)
        self.zero = zero + before[0]
        late = max(0, now() - self.zero)
        self.spin(self.zero, False)
        self.run()
        end = now() - self.zero
        self.row = -1
        head = (self.blocked, late, end, *before, *self.compare_clocks())
        told = self.others.gather((head, self.made, self.received, self.marks))
        for numbers, *rows in (told or ()) if measured else ():
            write(np.array([*(len(part) for part in rows), *numbers], np.int64).tobytes())
            for part in rows:
                write(np.array(list(itertools.chain.from_iterable(part)), np.int64).tobytes())
        sys.stdout.buffer.flush()


def write(content: bytes) -> None:
    """Write to the program that started the processes."""
    sys.stdout.buffer.write(content)


def introduce(world: MPI.Intracomm) -> None:
    """Write which MPI this is and where each process runs; refuse different versions."""
    name, library = MPI.Get_processor_name().encode(), MPI.Get_library_version().encode()
    mine = int(os.environ.get("FABRILOOM_RUNNER_VERSION") or version())
    told = world.gather((mine, name))
    if told is not None:
        for rank, (one, where) in enumerate(told):
            if one != mine:
                os.write(2, f"FABRILOOM-VERSIONS {rank} {where.decode()}\n".encode())
                refuse("the processes run different versions")
        width = max(len(where) for _, where in told) + 1
        write(np.array([len(library)], np.int64).tobytes() + library + np.array([width], np.int64).tobytes())
        write(b"".join(where.ljust(width, b"\0") for _, where in told))
        sys.stdout.buffer.flush()


def main() -> None:
    """Run all rounds."""
    world = MPI.COMM_WORLD
    introduce(world)
    process = Process(world)
    threading.Thread(target=process.watch, daemon=True).start()
    rounds = process.plan.head["warm_ups"] + process.plan.head["repeats"]
    for number in range(rounds):
        process.one_round(number >= process.plan.head["warm_ups"])


if __name__ == "__main__":
    main()
