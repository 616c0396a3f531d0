"""The rows of the table of faults about the wires: what comes from and goes to platforms, and what waits between."""

from tests.torture.row import Row
from tests.torture.rows_wires_files import FILES
from tests.torture.rows_wires_net import NET
from tests.torture.rows_wires_queue import QUEUE
from tests.torture.rows_wires_send import SEND
from tests.torture.rows_wires_talk import TALK

ROWS: tuple[Row, ...] = (*QUEUE, *TALK, *SEND, *NET, *FILES)
