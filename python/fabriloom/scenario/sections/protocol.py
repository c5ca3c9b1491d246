"""``[protocol]``: how messages become packets. Every setting has a default from the preset."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from fabriloom.scenario.fields import (
    ByteRateBitsPerS,
    Bytes,
    FileName,
    MessageBytes,
    PositiveBytes,
    PositiveTimePs,
    Section,
    Terminal,
    TimePs,
    optional,
    setting,
)

Window = Annotated[int, Field(ge=0, le=2**31)]


class BySize(Section):
    """Times of messages of one size; between two sizes they are interpolated linearly."""

    message_bytes: MessageBytes = setting("Size of the message")
    send_time_ps: TimePs = setting("Time of the host to send it")
    receive_time_ps: TimePs = setting("Time of the host to receive it")
    packet_time_ps: TimePs = setting("Time to fill each of its packets, including its bytes")
    send_gap_time_ps: TimePs = setting(
        "Least time from the start of one of its packets to the start of the next packet"
    )


class MessageRequirement(Section):
    """The longest time that messages of programs may take from their creation to their last packet."""

    name: Annotated[str, Field(min_length=1, max_length=200)] | None = optional("Its name in tables")
    source: Terminal | None = optional("Only messages of this terminal")
    target: Terminal | None = optional("Only messages to this terminal")
    tag: Annotated[int, Field(ge=0, lt=2**31)] | None = optional("Only messages with this tag")
    within_ps: PositiveTimePs = setting("The longest time")


class Protocol(Section):
    """How the messages of programs become packets, and the processing times of their hosts."""

    preset: Literal[
        "raw", "virtual-link", "t9000", "pio", "dma", "pio-lx-d310", "pio-bx-d321", "pio-alpha",
        "pio-testbed-1", "pio-testbed-2", "spacewire", "verbs-infiniband", "verbs-roce", "mpi-infiniband",
        "mpi-tcp", "tcp",
    ] = setting("Named set of values for all settings below", "raw")  # fmt: skip
    packet_bytes: PositiveBytes | None = optional("Largest payload of a packet")
    small_packet_bytes: PositiveBytes | None = optional("Largest payload of a packet of a small message")
    small_below_bytes: Bytes | None = optional("Messages shorter than this are small")
    messages_at_once: Window | None = optional(
        "Most messages that a terminal has handed over and not sent yet; 0: no limit"
    )
    channels_at_once: Window | None = optional(
        "Most channels of a terminal with a message begun and not sent yet (virtual links in "
        "use); 0: no limit"
    )
    packets_per_channel: Window | None = optional(
        "Most packets of a channel begun and not acknowledged; 0: no limit"
    )
    packets_at_once: Window | None = optional(
        "Most packets of a terminal begun and not acknowledged (stream buffers); 0: no limit"
    )
    receive_at_once: Window | None = optional(
        "Most messages that a terminal receives at the same time; the first acknowledgement of "
        "any other waits. 0: no limit"
    )
    channels_limit: Window | None = optional(
        "Most terminals that a terminal's program may send to; more are refused. 0: no limit"
    )
    acknowledge: Literal["none", "packet", "response"] | None = optional(
        "none: a packet counts as acknowledged once the link has taken it; packet: an empty "
        "packet acknowledges it; response: the end of its transaction does, in networks of rings"
    )
    acknowledge_from: Literal["end", "head"] | None = optional(
        "With acknowledge = packet. end: a packet is acknowledged when all of it has arrived; "
        "head: as soon as its first character has"
    )
    programmed: bool | None = optional(
        "true: the program's processor fills the packets over the host's bus (programmed I/O); "
        "false: the program continues once the message is handed over"
    )
    ahead_bytes: Bytes | None = optional(
        "Bytes of a packet that are filled while it waits for a free place among "
        "packets_at_once (posted writes)"
    )
    send_time_ps: TimePs | None = optional("Time of the host to send a message")
    receive_time_ps: TimePs | None = optional("Time of the host to receive a message")
    packet_time_ps: TimePs | None = optional("Time to fill a packet, independent of its length")
    byte_time_ps: TimePs | None = optional("Time to fill each byte of a packet")
    bus_packet_time_ps: TimePs | None = optional(
        "Time per packet on the host's bus, which sending and receiving share"
    )
    bus_byte_time_ps: TimePs | None = optional("Time per byte on the host's bus")
    send_gap_time_ps: TimePs | None = optional(
        "Least time from the start of one packet of a terminal to the start of the next"
    )
    shaper_rate_bits_per_s: ByteRateBitsPerS | None = optional(
        "Token bucket of each channel: rate of its tokens, one for each byte of a packet. Without a shaper, "
        "packets do not wait for any"
    )
    shaper_burst_bytes: PositiveBytes | None = optional(
        "Token bucket of each channel: tokens that it holds, at least a packet; one packet if not given"
    )
    receive_gap_time_ps: TimePs | None = optional(
        "Least time from one packet accepted by a terminal to the next; acknowledgements of packets that "
        "arrive sooner wait"
    )
    ack_time_ps: TimePs | None = optional(
        "From the acceptance of a packet until its acknowledgement is ready"
    )
    resume_time_ps: TimePs | None = optional(
        "From the arrival of an acknowledgement until the place of its packet is free"
    )
    check_time_ps: TimePs | None = optional(
        "Time of a check of each message after its last acknowledgement; if the check fails, "
        "the whole message is sent again. 0: no check"
    )
    bit_error_rate: Annotated[float, Field(ge=0, lt=1)] | None = optional(
        "Probability that a bit is wrong; the check detects it"
    )
    eager_limit_bytes: Bytes | None = optional(
        "Longer messages are announced (rendezvous), and sent when a receive for them is posted. 0: all "
        "are sent at once"
    )
    announcement_bytes: MessageBytes | None = optional(
        "An announcement (request-to-send), and its answer (clear-to-send)"
    )
    unexpected_buffer_bytes: Bytes | None = optional(
        "With acknowledge = packet: most bytes of messages that a terminal stores before a receive for them "
        "is posted; packets of others are not acknowledged until there is room. 0: any number"
    )
    resend_after_ps: TimePs | None = optional(
        "With acknowledge = packet: a packet is sent again if it is not acknowledged within "
        "this time after the link has taken it; 0: never"
    )
    resend_limit: Annotated[int, Field(ge=1, le=64)] | None = optional(
        "Most repetitions of a packet. After the last, the sender gives the packet up; its "
        "message is lost unless it has arrived"
    )
    resend_backoff: Annotated[int, Field(ge=1, le=16)] | None = optional(
        "Factor from one time-out to the next"
    )
    transaction: Literal["nwrite", "dmove"] | None = optional(
        "In networks of rings, the transaction of a packet: nwrite (default), answered by an "
        "empty response, or dmove, without a response"
    )
    layer: Literal["none", "control-word"] | None = optional(
        "control-word: a control word follows the data of each message. The receiver then "
        "returns the next address; the next message to the same terminal waits for it"
    )
    control_word_bytes: MessageBytes | None = optional("Size of the control word")
    next_address_bytes: MessageBytes | None = optional("Size of the reply with the next address")

    by_size: Annotated[list[BySize], Field(min_length=1, max_length=2**12)] | None = optional(
        "Times by message size, sizes ascending, instead of send_time, receive_time, "
        "packet_time with byte_time, and send_gap_time. Below the first size its times apply; above the "
        "last, the line through the last two is extended"
    )
    requirements: Annotated[list[MessageRequirement], Field(min_length=1, max_length=2**10)] | None = (
        optional("Requirements on messages")
    )
    preset_file: FileName | None = optional(
        "File of fabriloom fit whose table [protocol] gives the settings that are not written here"
    )

    def overrides(self) -> dict[str, Any]:
        """Return the settings that differ from the preset, by their names with units."""
        beside = {
            "preset", "transaction", "by_size", "requirements", "preset_file", "shaper_rate_bits_per_s",
            "shaper_burst_bytes",
        }  # fmt: skip
        return self.model_dump(exclude=beside, exclude_none=True)


MOST_DELAY = 2**14 - 1
"""Most packet times of a rest: a multiplier has 14 bits."""


class CongestionControl(Section):
    """Congestion control of InfiniBand, annex A10 of the specification; the names are those of the annex."""

    threshold: Annotated[int, Field(ge=1, le=15)] = setting(
        "How early a switch marks packets (FECN): once other packets that wait for the same output have "
        "more than (16 - threshold) / 16 of an input buffer; 15 is the earliest",
        8,
    )
    marking_rate: Annotated[int, Field(ge=0, le=65535)] = setting(
        "Packets between two marked ones, of those that a link could mark; 0: all are marked", 3
    )
    victim_mask: Literal["none", "all"] = setting(
        "`none`: only roots of congestion mark packets, which have credit to send them; `all`: outputs that "
        "wait for credit mark them, too",
        "none",
    )
    becn_delay_ps: PositiveTimePs = setting(
        "Time from the delivery of a marked packet until its sender hears of it (BECN)", 1_000_000
    )
    ccti_increase: Annotated[int, Field(ge=0, le=255)] = setting(
        "What a BECN adds to the index of the port in the table (CCTI)", 1
    )
    ccti_limit: Annotated[int, Field(ge=1, le=65535)] = setting("The highest index", 127)
    ccti_timer_ps: PositiveTimePs = setting(
        "After this time the index falls by one, again and again; the annex counts in 1.024 us", 10_240_000
    )
    cct: Annotated[list[Annotated[float, Field(ge=0, le=MOST_DELAY)]], Field(max_length=65536)] | None = (
        setting(
            "The table: by index, for how many times of the packet that it has sent a port rests before the "
            "next one, in eighths (multiplier / 2^shift); if not given, the index itself",
            None,
        )
    )
