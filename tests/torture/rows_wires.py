"""The rows of the table of faults about the wires: what comes from and goes to platforms, and what waits between."""

from tests.torture.row import Row
from tests.torture.wires_files import FILES
from tests.torture.wires_net import NET
from tests.torture.wires_queue import QUEUE
from tests.torture.wires_send import SEND
from tests.torture.wires_talk import TALK

ROWS: tuple[Row, ...] = (*QUEUE, *TALK, *SEND, *NET, *FILES)
