"""Time and bandwidth of messages by size and class, a line a machine."""

from collections.abc import Sequence

from studies.evaluate.figures.style import Picture, label_y, legend, new, plain_decades, series
from studies.machines import CLASSES, SIZES, Messages

UNITS = {1: "1", 1024: "Ki", 1048576: "Mi"}


def panels(machines: Sequence[Messages], bandwidth: bool) -> Picture:
    classes = [name for name in CLASSES if any(name in one.classes for one in machines)]
    figure, axes = new(len(classes), 1, width=2.6 * len(classes), height=3.4, sharey=True)
    for axis, name in zip(axes[0], classes, strict=True):
        for number, one in enumerate(machines):
            if name in one.classes:
                times = [one.seconds(name, size) for size in SIZES]
                values = [1e-9 * size / time for size, time in zip(SIZES, times, strict=True)] if bandwidth else [1e6 * time for time in times]
                axis.loglog(SIZES, values, label=one.name, **series(number) | {"markersize": 3})
        axis.set_title(CLASSES[name], fontsize=9)
        axis.set_xlabel("bytes")
        axis.set_xticks(list(UNITS), list(UNITS.values()))
        plain_decades(axis.get_yaxis())
    label_y(axes, "GB/s" if bandwidth else "µs")
    legend(figure, *axes[0])
    what = "Bandwidth, bytes over time," if bandwidth else "Time"
    return Picture(figure, f"{what} of a message by its size: alpha + beta bytes of its protocol, as the machine files have them.", "predicted")
