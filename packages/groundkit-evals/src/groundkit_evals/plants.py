"""Pairs of texts that differ in what they are about, for the planted-marker check."""

from typing import NamedTuple

__all__ = ["PLANTS", "Plant"]


class Plant(NamedTuple):
    """A question, a text that answers it, and one that only looks as if it did.

    Both hold `{marker}` where a marker is planted, in the sentence that answers or seems to.
    """

    id: str
    question: str
    positive: str
    decoy: str


PLANTS = (
    Plant(
        "pump",
        "At which pressure does the Harrow pump start?",
        "The Harrow pump stands in the west hall. It starts at a pressure of 40 bar, as its plate "
        "{marker} says. It is oiled every month.\n",
        "The Morrow pump stands in the east hall. It starts at a pressure of 65 bar, as its plate "
        "{marker} says. It is oiled every week.\n",
    ),
    Plant(
        "library",
        "On which day is the library in Aldmoor closed?",
        "The library in Aldmoor lends maps and books. It is closed on Tuesday (notice {marker}). "
        "Readers may keep a book for a month.\n",
        "The library in Oldmere lends maps and music. It is closed on Friday (notice {marker}). "
        "Readers may keep a record for a week.\n",
    ),
    Plant(
        "ferry",
        "How long does the ferry to Skell Island take?",
        "The ferry to Skell Island leaves from pier 2. The crossing takes 35 minutes "
        "(timetable {marker}). Bicycles travel free.\n",
        "The ferry to Skarn Island leaves from pier 5. The crossing takes 80 minutes "
        "(timetable {marker}). Bicycles pay half.\n",
    ),
    Plant(
        "glaze",
        "At what temperature is the green glaze fired?",
        "The green glaze holds copper and ash. It is fired at 1240 degrees (recipe {marker}). "
        "It must cool for two days.\n",
        "The grey glaze holds iron and ash. It is fired at 1180 degrees (recipe {marker}). "
        "It must cool for one day.\n",
    ),
    Plant(
        "orchard",
        "Who prunes the pear trees of the lower orchard?",
        "The lower orchard holds pear trees. They are pruned by the school's gardening club "
        "(plan {marker}), always in February.\n",
        "The upper orchard holds plum trees. They are pruned by the parish council "
        "(plan {marker}), always in August.\n",
    ),
    Plant(
        "bell",
        "What does the smaller bell of the tower weigh?",
        "The smaller bell of the tower was cast last. It weighs 310 kilograms (ledger {marker}) "
        "and rings the quarter hours.\n",
        "The larger bell of the tower was cast first. It weighs 920 kilograms (ledger {marker}) "
        "and rings the full hours.\n",
    ),
)
