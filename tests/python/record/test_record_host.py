"""How a record identifies the machine."""

import pytest

from lull.record.host import processor_in


@pytest.mark.parametrize(
    ("said", "processor"),
    [
        ("processor\t: 0\nmodel name\t: Imaginary 9000 CPU @ 2.00GHz\n", "Imaginary 9000 CPU @ 2.00GHz"),
        ("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n", "Arm Neoverse N1"),
        ("CPU implementer\t: 0x41\nCPU part\t: 0xfff\n", "Arm part 0xfff"),
        ("CPU implementer\t: 0x41\nCPU part\t: 0xd4f\n", "Arm Neoverse V2"),  # Grace, Graviton 4
        ("CPU implementer\t: 0x46\nCPU part\t: 0x001\n", "Fujitsu A64FX"),
        ("CPU implementer\t: 0xc0\nCPU part\t: 0xac3\n", "Ampere Ampere-1"),
        ("CPU implementer\t: 0x46\nCPU part\t: 0xd4f\n", "Fujitsu part 0xd4f"),
        ("CPU implementer\t: 0x99\nCPU part\t: 0x002\n", "implementer 0x99 part 0x2"),
        ("hart : 0\n", "unknown"),
        ("", "unknown"),
    ],
)
def test_the_processor_is_what_cpuinfo_names_on_any_machine(said: str, processor: str) -> None:
    assert processor_in(said) == processor
