"""Instances, slots, properties, exceptions and a comprehension: cars come to a garage that is often full."""

from collections.abc import Iterator

TINY, SMALL, FULL = 1, 10, 800
EXPECT = {"TINY": (24, 5, 0), "SMALL": (240, 50, 0), "FULL": (19200, 4000, 0)}


class Full(Exception):
    """No place is left."""


class Car:
    __slots__ = ("minutes", "plate")

    def __init__(self, plate: str, minutes: int) -> None:
        self.plate = plate
        self.minutes = minutes


class Garage:
    """Places for cars; those that leave pay by the minute."""

    def __init__(self, places: int) -> None:
        self.places = places
        self.parked: dict[str, Car] = {}
        self.earned = 0

    @property
    def free(self) -> int:
        return self.places - len(self.parked)

    def enter(self, car: Car) -> None:
        if self.free == 0:
            raise Full(car.plate)
        self.parked[car.plate] = car

    def pass_minutes(self, minutes: int) -> None:
        for car in self.parked.values():
            car.minutes -= minutes
        for plate in [car.plate for car in self.parked.values() if car.minutes <= 0]:
            self.leave(plate)

    def leave(self, plate: str) -> None:
        car = self.parked.pop(plate)
        self.earned += 1 - car.minutes


def arrivals(count: int) -> Iterator[Car]:
    """Cars that stay for 5 to 40 minutes."""
    for number in range(count):
        yield Car(f"DC {number}", 5 + number * 11 % 36)


def main(n: int) -> tuple[int, int, int]:
    """Money earned, cars turned away, places free in the end: on n days together."""
    earned = turned_away = free = 0
    for _ in range(n):
        garage = Garage(places=6)
        for car in arrivals(24):
            try:
                garage.enter(car)
            except Full:
                turned_away += 1
            garage.pass_minutes(3)
        earned += garage.earned
        free += garage.free
    return earned, turned_away, free
