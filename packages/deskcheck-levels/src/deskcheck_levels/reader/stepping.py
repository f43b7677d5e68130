"""Runs at the level `reader`: a machine that a reader tells what to do, and a processor that computes."""

from pathlib import Path

from deskcheck.errors import InputError
from deskcheck_levels.machine.machine import Machine, OnLine
from deskcheck_levels.processor import network as processor_network
from deskcheck_levels.processor.stepping import Processor
from deskcheck_levels.reader import network
from deskcheck_levels.reader.reading import ReadingMachine
from deskcheck_levels.shipped import NANO, folder_of


class ReaderModels:
    """The reader of a folder, with its processor where it has one, else with that of nano. processor: another
    folder, whose processor it is."""

    def __init__(self, folder: Path, processor: Path | None = None) -> None:
        if not (folder / network.FILE).is_file():
            raise InputError(
                f"{folder}: has no model of the level reader. "
                "`deskcheck teach --steps-of GENERATOR --level reader --out FOLDER` trains one; nano has one."
            )
        has_processor = (folder / processor_network.FILE).is_file()
        self.processor = Processor(processor or (folder if has_processor else folder_of(NANO)))
        self.network = network.load(folder / network.FILE)

    def machine(self, line: OnLine | None = None, steps: int | None = None) -> Machine:
        """A machine that asks these models."""
        return ReadingMachine(self.network, self.processor.arithmetic, line=line, steps=steps)

    def counts(self) -> dict[str, int]:
        """As `Processor.counts`, with the distinct prompts that were read."""
        return {**self.processor.counts(), "prompts": len(self.network.prompts)}
