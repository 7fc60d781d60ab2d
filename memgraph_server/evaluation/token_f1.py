"""Token F1 as LoCoMo publishes it (Maharana et al., ACL 2024, its `evaluation.py`), so that figures can be compared.

- words without case, punctuation, commas and the words a, an, the, and; stemmed by Porter;
- multi-hop: both texts are cut at commas; of each part of the gold answer the best part of the reply counts, and the
  mean over the parts is the score;
- open-domain: of the gold answer what stands before the first semicolon;
- not answerable: 1 where the reply says that it is not there, else 0 (LoCoMo looks for two phrases; here it is whether
  the answer abstained).

The published prompts ask for a short phrase; a reply in sentences scores lower for its length alone.
"""

from __future__ import annotations

import re
import string
from collections import Counter

from memgraph_server.evaluation.porter import stem

_ARTICLES = re.compile(r"\b(?:a|an|the|and)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
MULTI_HOP, OPEN_DOMAIN = "multi_hop", "open_domain"


def token_f1(reply: str, gold: str, category: str) -> float:
    """In [0, 1]; for questions that can be answered. `category` by its name (`locomo.CATEGORIES`)."""
    if category == MULTI_HOP:
        replies = [words(part) for part in reply.split(",")]
        parts = [max(overlap(each, words(part)) for each in replies) for part in gold.split(",")]
        return sum(parts) / len(parts)
    return overlap(words(reply), words(gold.partition(";")[0] if category == OPEN_DOMAIN else gold))


def words(text: str) -> list[str]:
    """Stems, in order."""
    plain = text.lower().translate(_NO_PUNCTUATION)
    return [stem(word) for word in _ARTICLES.sub(" ", plain).split()]


def overlap(reply: list[str], gold: list[str]) -> float:
    """The harmonic mean of precision and recall over words with their counts; 0 where nothing is shared."""
    shared = (Counter(reply) & Counter(gold)).total()
    return 2 * shared / (len(reply) + len(gold)) if shared else 0.0
