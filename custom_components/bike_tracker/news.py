"""What is different now, for whoever knows what was."""

from collections.abc import Mapping, Set as AbstractSet
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class News[K, T]:
    """Things by key, and which of them are others than before.

    Neither mapping is changed afterwards. Of a thousand things, of which one changed, the
    others need not be looked at, which costs more than all that is done with the one.
    """

    before: Mapping[K, T]
    now: Mapping[K, T]
    changed: AbstractSet[K]
    """Keys that came, changed or went."""

    def since(self, known: Mapping[K, T]) -> AbstractSet[K]:
        """Return keys that may have changed for somebody who last saw `known`.

        That is all of them for somebody who missed something.
        """
        if known is self.now:
            return frozenset()
        if known is self.before:
            return self.changed
        return known.keys() | self.now.keys()

    def told(self) -> News[K, T]:
        """Return the same without what was, for whoever is told later: nothing is new.

        What was before would take up as much memory as what is now.
        """
        return News(self.now, self.now, frozenset())
