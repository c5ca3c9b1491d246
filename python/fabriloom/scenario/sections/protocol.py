"""``[protocol]``: how messages become packets. Every setting has a default from the preset."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from fabriloom.scenario.fields import Bytes, FileName, MessageBytes, PositiveBytes, Section, TimePs

Window = Annotated[int, Field(ge=0, le=2**31)]


class BySize(Section):
    """Times of messages of one size; between two sizes they are interpolated linearly."""

    message_bytes: MessageBytes = Field(alias="message", description="Size of the message")
    send_time_ps: TimePs = Field(alias="send_time", description="Time of the host to send it")
    receive_time_ps: TimePs = Field(alias="receive_time", description="Time of the host to receive it")
    packet_time_ps: TimePs = Field(
        alias="packet_time", description="Time to fill each of its packets, including its bytes"
    )
    send_gap_time_ps: TimePs = Field(
        alias="send_gap_time",
        description="Least time from the start of one of its packets to the start of the next packet",
    )


class Protocol(Section):
    """How the messages of programs become packets, and the processing times of their hosts."""

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
        "verbs-infiniband",
        "verbs-roce",
        "tcp",
    ] = Field(default="raw", description="Named set of values for all settings below")
    packet_bytes: PositiveBytes | None = Field(
        default=None, alias="packet", description="Largest payload of a packet"
    )
    small_packet_bytes: PositiveBytes | None = Field(
        default=None, alias="small_packet", description="Largest payload of a packet of a small message"
    )
    small_below_bytes: Bytes | None = Field(
        default=None, alias="small_below", description="Messages shorter than this are small"
    )
    messages_at_once: Window | None = Field(
        default=None,
        description="Most messages that a terminal has handed over and not sent yet; 0: no limit",
    )
    channels_at_once: Window | None = Field(
        default=None,
        description="Most channels of a terminal with a message begun and not sent yet (virtual links in "
        "use); 0: no limit",
    )
    packets_per_channel: Window | None = Field(
        default=None, description="Most packets of a channel begun and not acknowledged; 0: no limit"
    )
    packets_at_once: Window | None = Field(
        default=None,
        description="Most packets of a terminal begun and not acknowledged (stream buffers); 0: no limit",
    )
    receive_at_once: Window | None = Field(
        default=None,
        description="Most messages that a terminal receives at the same time; the first acknowledgement of "
        "any other waits. 0: no limit",
    )
    channels_limit: Window | None = Field(
        default=None,
        description="Most terminals that a terminal's program may send to; if it has more, the run is "
        "refused. 0: no limit",
    )
    acknowledge: Literal["none", "packet", "response"] | None = Field(
        default=None,
        description="none: a packet counts as acknowledged once the link has taken it; packet: an empty "
        "packet acknowledges it; response: the end of its transaction does, in networks of rings",
    )
    acknowledge_from: Literal["end", "head"] | None = Field(
        default=None,
        description="With acknowledge = packet. end: a packet is acknowledged when all of it has arrived; "
        "head: as soon as its first character has",
    )
    programmed: bool | None = Field(
        default=None,
        description="true: the program's processor fills the packets over the host's bus (programmed I/O); "
        "false: the program continues once the message is handed over",
    )
    ahead_bytes: Bytes | None = Field(
        default=None,
        alias="ahead",
        description="Bytes of a packet that are filled while it waits for a free place among "
        "packets_at_once (posted writes)",
    )
    send_time_ps: TimePs | None = Field(
        default=None, alias="send_time", description="Time of the host to send a message"
    )
    receive_time_ps: TimePs | None = Field(
        default=None, alias="receive_time", description="Time of the host to receive a message"
    )
    packet_time_ps: TimePs | None = Field(
        default=None, alias="packet_time", description="Time to fill a packet, independent of its length"
    )
    byte_time_ps: TimePs | None = Field(
        default=None, alias="byte_time", description="Time to fill each byte of a packet"
    )
    bus_packet_time_ps: TimePs | None = Field(
        default=None,
        alias="bus_packet_time",
        description="Time per packet on the host's bus, which sending and receiving share",
    )
    bus_byte_time_ps: TimePs | None = Field(
        default=None, alias="bus_byte_time", description="Time per byte on the host's bus"
    )
    send_gap_time_ps: TimePs | None = Field(
        default=None,
        alias="send_gap_time",
        description="Least time from the start of one packet of a terminal to the start of the next; the "
        "packet itself is not delayed",
    )
    receive_gap_time_ps: TimePs | None = Field(
        default=None,
        alias="receive_gap_time",
        description="Least time from one packet accepted by a terminal to the next: acknowledgements of "
        "packets that arrive sooner wait; their data do not",
    )
    ack_time_ps: TimePs | None = Field(
        default=None,
        alias="ack_time",
        description="Time from the acceptance of a packet until its acknowledgement is ready",
    )
    resume_time_ps: TimePs | None = Field(
        default=None,
        alias="resume_time",
        description="Time from the arrival of an acknowledgement until the place of its packet is free",
    )
    check_time_ps: TimePs | None = Field(
        default=None,
        alias="check_time",
        description="Time of a check of each message after its last acknowledgement; if the check fails, "
        "the whole message is sent again. 0: no check",
    )
    bit_error_rate: Annotated[float, Field(ge=0, lt=1)] | None = Field(
        default=None, description="Probability that a bit is wrong; the check detects it"
    )
    resend_after_ps: TimePs | None = Field(
        default=None,
        alias="resend_after",
        description="With acknowledge = packet: a packet is sent again if it is not acknowledged within "
        "this time after the link has taken it; 0: never",
    )
    resend_limit: Annotated[int, Field(ge=1, le=64)] | None = Field(
        default=None,
        description="Most repetitions of a packet. After the last, the sender gives the packet up; its "
        "message is lost unless it has arrived",
    )
    resend_backoff: Annotated[int, Field(ge=1, le=16)] | None = Field(
        default=None, description="Factor from one time-out to the next"
    )
    transaction: Literal["nwrite", "dmove"] | None = Field(
        default=None,
        description="In networks of rings, the transaction of a packet: nwrite (default), answered by an "
        "empty response, or dmove, without a response",
    )
    layer: Literal["none", "control-word"] | None = Field(
        default=None,
        description="control-word: a control word follows the data of each message. The receiver then "
        "returns the next address; the next message to the same terminal waits for it",
    )
    control_word_bytes: MessageBytes | None = Field(
        default=None, alias="control_word", description="Size of the control word"
    )
    next_address_bytes: MessageBytes | None = Field(
        default=None, alias="next_address", description="Size of the reply with the next address"
    )

    by_size: Annotated[list[BySize], Field(min_length=1, max_length=2**12)] | None = Field(
        default=None,
        description="Times by message size, sizes ascending, instead of send_time, receive_time, "
        "packet_time with byte_time, and send_gap_time. Below the first size its times apply; above the "
        "last, the line through the last two is extended",
    )
    preset_file: FileName | None = Field(
        default=None,
        description="Preset file, as fabriloom fit writes it. Its table [protocol] gives the settings that "
        "are not written here",
    )

    def overrides(self) -> dict[str, Any]:
        """Return the settings that differ from the preset, by their names with units."""
        return self.model_dump(exclude={"preset", "transaction", "by_size", "preset_file"}, exclude_none=True)
