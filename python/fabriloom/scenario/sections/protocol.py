"""``[protocol]``: what stands between a message and its packets. Everything but the preset is optional."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from fabriloom.scenario.fields import Bytes, FileName, MessageBytes, PositiveBytes, Section, TimePs

Window = Annotated[int, Field(ge=0, le=2**31)]


class BySize(Section):
    """Times of messages of one size; between two sizes a straight line."""

    message_bytes: MessageBytes = Field(alias="message", description="Bytes of the message")
    send_time_ps: TimePs = Field(alias="send_time", description="Host's time to send it")
    receive_time_ps: TimePs = Field(alias="receive_time", description="Host's time to receive it")
    packet_time_ps: TimePs = Field(
        alias="packet_time", description="Time to fill each of its packets, bytes included"
    )
    send_gap_time_ps: TimePs = Field(
        alias="send_gap_time", description="From one of its packets begun to the next packet, at least"
    )


class Protocol(Section):
    """How the messages of programs become packets, and what they cost their hosts."""

    preset: Literal[
        "raw",
        "virtual-link",
        "t9000",
        "pio",
        "dma",
        "pio-lx-d310",
        "pio-bx-d321",
        "pio-alpha",
        "pio-testbed-1",
        "pio-testbed-2",
        "spacewire",
    ] = Field(default="raw", description="Where the numbers come from")
    packet_bytes: PositiveBytes | None = Field(
        default=None, alias="packet", description="Most payload of a packet"
    )
    small_packet_bytes: PositiveBytes | None = Field(
        default=None, alias="small_packet", description="The same for small messages"
    )
    small_below_bytes: Bytes | None = Field(
        default=None, alias="small_below", description="Messages shorter than this are small"
    )
    messages_at_once: Window | None = Field(
        default=None, description="Messages of a terminal handed over and not sent yet; 0: any number"
    )
    channels_at_once: Window | None = Field(
        default=None,
        description="Channels of a terminal with a message begun and not sent yet (virtual links in use); "
        "0: any number",
    )
    packets_per_channel: Window | None = Field(
        default=None, description="Packets of a channel begun and not acknowledged; 0: any number"
    )
    packets_at_once: Window | None = Field(
        default=None,
        description="Packets of a terminal begun and not acknowledged (stream buffers); 0: any number",
    )
    receive_at_once: Window | None = Field(
        default=None,
        description="Messages that a terminal takes at a time: others wait for their first acknowledgement; "
        "0: any number",
    )
    channels_limit: Window | None = Field(
        default=None,
        description="Terminals that a terminal's program may send to, refused before the run if there are "
        "more; 0: any number",
    )
    acknowledge: Literal["none", "packet", "response"] | None = Field(
        default=None,
        description="none: a packet counts as acknowledged when its link has it; packet: by an empty packet "
        "back; response: by the end of its transaction, in networks of rings",
    )
    acknowledge_from: Literal["end", "head"] | None = Field(
        default=None,
        description="With acknowledge = packet: whether a packet is acknowledged when all of it has come, or "
        "from its first character on",
    )
    programmed: bool | None = Field(
        default=None,
        description="Whether the program's own processor fills packets, over the host's bus (programmed "
        "I/O); otherwise it goes on when the message is handed over",
    )
    ahead_bytes: Bytes | None = Field(
        default=None,
        alias="ahead",
        description="Bytes of a packet that are filled while it still waits for its place among "
        "packets_at_once (posted writes)",
    )
    send_time_ps: TimePs | None = Field(
        default=None, alias="send_time", description="Host's time for a message that is sent"
    )
    receive_time_ps: TimePs | None = Field(
        default=None, alias="receive_time", description="Host's time for a message that is received"
    )
    packet_time_ps: TimePs | None = Field(
        default=None, alias="packet_time", description="Time to fill a packet, whatever its length"
    )
    byte_time_ps: TimePs | None = Field(
        default=None, alias="byte_time", description="Time to fill a byte of a packet"
    )
    bus_packet_time_ps: TimePs | None = Field(
        default=None,
        alias="bus_packet_time",
        description="Time of a packet on the host's bus, which sending and receiving share",
    )
    bus_byte_time_ps: TimePs | None = Field(
        default=None, alias="bus_byte_time", description="Time of a byte there"
    )
    send_gap_time_ps: TimePs | None = Field(
        default=None,
        alias="send_gap_time",
        description="Least time from one packet begun by a terminal to the next: the "
        "node is occupied for this time, but the packet continues at once",
    )
    receive_gap_time_ps: TimePs | None = Field(
        default=None,
        alias="receive_gap_time",
        description="Least time from one packet taken in by a terminal to the next: acknowledgements "
        "of packets that arrive sooner wait; their data do not",
    )
    ack_time_ps: TimePs | None = Field(
        default=None,
        alias="ack_time",
        description="From a packet taken in to its acknowledgement being ready",
    )
    resume_time_ps: TimePs | None = Field(
        default=None,
        alias="resume_time",
        description="From an acknowledgement received to the place of its packet being free",
    )
    check_time_ps: TimePs | None = Field(
        default=None,
        alias="check_time",
        description="Check of a message after its last acknowledgement; when it fails, all is sent again. "
        "0: none",
    )
    bit_error_rate: Annotated[float, Field(ge=0, lt=1)] | None = Field(
        default=None, description="Share of the bits that are wrong, found by the check"
    )
    resend_after_ps: TimePs | None = Field(
        default=None,
        alias="resend_after",
        description="With acknowledge = packet: a packet that is not acknowledged within this "
        "time after its link took it is sent again; 0: never",
    )
    resend_limit: Annotated[int, Field(ge=1, le=64)] | None = Field(
        default=None,
        description="Most repetitions; after them the packet is given up, and its message is lost unless "
        "it has arrived",
    )
    resend_backoff: Annotated[int, Field(ge=1, le=16)] | None = Field(
        default=None, description="Factor by which each time-out is longer than the one before"
    )
    transaction: Literal["nwrite", "dmove"] | None = Field(
        default=None,
        description="In networks of rings, what a packet is: nwrite, answered by an empty response, or "
        "dmove, without one; nwrite if not given",
    )
    layer: Literal["none", "control-word"] | None = Field(
        default=None,
        description="control-word: a control word follows the data of a message, and the receiver returns "
        "the next address, for which the next message to the same terminal waits",
    )
    control_word_bytes: MessageBytes | None = Field(
        default=None, alias="control_word", description="Size of that control word"
    )
    next_address_bytes: MessageBytes | None = Field(
        default=None, alias="next_address", description="Size of the answer with the next address"
    )

    by_size: Annotated[list[BySize], Field(min_length=1, max_length=2**12)] | None = Field(
        default=None,
        description="Times by the size of a message, sizes ascending, instead of send_time, receive_time, "
        "packet_time with byte_time, and send_gap_time; below the first size its times, above the last the "
        "line through the last two continues",
    )
    preset_file: FileName | None = Field(
        default=None,
        description="File with a preset such as fabriloom fit writes: its table [protocol] holds what is not "
        "written here",
    )

    def overrides(self) -> dict[str, Any]:
        """Settings that differ from the preset, under their names with units."""
        return self.model_dump(exclude={"preset", "transaction", "by_size", "preset_file"}, exclude_none=True)
